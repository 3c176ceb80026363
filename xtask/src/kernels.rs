//! `cargo xtask kernels`: compiles every kernel to the images that the library embeds.
//!
//! The toolchain is nvcc from PyPI, every part of it pinned, in a folder of its own. Sources and toolchain are laid out
//! in one fixed directory, so that the images are the same on every machine: `--check` compares bytes. A record says what each
//! image was made from, so that a check in between need not compile all of them.
//!
//! A source file states in comments what its machine code must satisfy:
//!
//! ```text
//! // registers: 40              no kernel in this file uses more
//! // registers bfs_queue: 32    nor does this one
//! // sass: VIADDMNMX            this instruction occurs, on every target
//! // sass sm_90: LDGSTS         on this one
//! // no-sass: STL               this one does not occur
//! ```

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::SystemTime;

mod record;

use lzma_rust2::{LzmaOptions, XzOptions, XzReader, XzWriter};
use record::Record;

/// The parts of the toolchain. Newer parts make code that driver 580 does not load; the last ones only read code.
const PINS: [&str; 7] = [
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
    "nvidia-cuda-cuobjdump==13.2.86",
    "nvidia-cuda-nvdisasm==13.2.86",
];

/// The targets of machine code; see `images.rs` of the library. All targets of a row are assembled from the PTX of the
/// first: kernels use nothing that is new in the others, and the steps before the assembler are a third of the time.
const CUBINS: [[&str; 3]; 2] = [["80", "86", "89"], ["90", "100", "120"]];
/// The targets of PTX.
const PTX: [&str; 2] = ["75", "90"];
/// Whether an entry belongs to a part: is it PTX, and for which kind of device?
type Belongs = fn(bool, u32) -> bool;
/// The parts of a stored image, each packed alone, since a device needs only one of them. `images.rs` of the library
/// chooses parts by the same names.
const PARTS: [(&str, Belongs); 4] = [
    ("sm_8x", |is_ptx, target| !is_ptx && target < 90),
    ("sm_90", |is_ptx, target| !is_ptx && target == 90),
    ("sm_1xx", |is_ptx, target| !is_ptx && target > 90),
    ("ptx", |is_ptx, _| is_ptx),
];
/// The folders: the root with sources for several problems, one per problem, and the headers generated from Rust.
const FOLDERS: [&str; 11] = [
    "",
    "bfs",
    "sssp",
    "apsp",
    "betweenness",
    "closure",
    "generated",
    "generated/bfs",
    "generated/sssp",
    "generated/apsp",
    "generated/closure",
];
/// The directory in which everything is compiled.
const FIXED_DIRECTORY: &str = "/tmp/warpath-kernels";
/// The number of compilers that run at once.
const AT_ONCE: usize = 2;

/// The arguments of the compiler, but for the names of files.
fn arguments() -> Vec<String> {
    let fixed = [
        "-std=c++17",
        "-O3",
        "-Werror",
        "all-warnings",
        "-Xptxas",
        "-v,-warn-spills,-warn-lmem-usage,-Werror",
        "-fatbin",
        "--compress-mode=none",
        "-Itoolkit/include",
    ];
    let of_cubins = CUBINS.map(|targets| {
        let codes = targets.map(|target| format!("sm_{target}")).join(",");
        format!("arch=compute_{},code=[{codes}]", targets[0])
    });
    let of_ptx = PTX.map(|target| format!("arch=compute_{target},code=compute_{target}"));
    let targets = of_cubins.into_iter().chain(of_ptx).flat_map(|target| ["-gencode".to_owned(), target]);
    fixed.map(str::to_owned).into_iter().chain(targets).collect()
}

/// Compares all images with the record of what they were made from, and builds as many as are wanted of them, other ones each day.
pub(crate) fn check_some(root: &Path, count: usize, toolchain: Option<PathBuf>) -> Result<(), String> {
    let kernels = root.join("crates/warpath/kernels");
    let record = Record::read(&kernels)?;
    let sources = sources(&kernels)?;
    let wrong: Vec<String> = sources.iter().filter_map(|source| record.check(&kernels, source).err()).collect();
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    println!("all {} images are recorded to be made from their sources", sources.len());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let first = (now / 86_400) as usize * count % sources.len().max(1);
    let some = sources.iter().cycle().skip(first).take(count.min(sources.len()));
    let named: Vec<String> = some.map(|source| source.image.clone()).collect();
    if named.is_empty() { Ok(()) } else { run(root, true, toolchain, &named) }
}

/// Builds the images, or compares them with the existing ones: those named, or all.
pub(crate) fn run(root: &Path, check: bool, toolchain: Option<PathBuf>, named: &[String]) -> Result<(), String> {
    let toolchain = match toolchain.or_else(|| std::env::var_os("WARPATH_CUDA_TOOLCHAIN").map(PathBuf::from)) {
        Some(folder) => {
            toolkit_in(&folder).ok_or_else(|| format!("{}: there is no CUDA toolchain in it", folder.display()))?
        }
        None => install(&root.join(".cuda"))?,
    };
    let kernels = root.join("crates/warpath/kernels");
    let mut sources = sources(&kernels)?;
    if let Some(unknown) = named.iter().find(|name| !sources.iter().any(|source| source.image == **name)) {
        return Err(format!("there is no kernel `{unknown}`"));
    }
    let are_all = named.is_empty();
    let all: Vec<String> = sources.iter().map(|source| source.image.clone()).collect();
    sources.retain(|source| are_all || named.contains(&source.image));
    let images = kernels.join("images");
    let lock = File::create(format!("{FIXED_DIRECTORY}.lock")).map_err(at(FIXED_DIRECTORY.as_ref()))?;
    lock.lock().map_err(at(FIXED_DIRECTORY.as_ref()))?;
    lay_out(&kernels, &toolchain)?;

    let queue = Mutex::new(sources.iter());
    let failures = Mutex::new(Vec::new());
    let next = || queue.lock().map_or(None, |mut queue| queue.next());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(source) = next() {
                    match source.build().and_then(|(image, summary)| source.deliver(&images, &image, summary, check)) {
                        Ok(summary) => println!("{}: {summary}", source.image),
                        Err(message) => failures.lock().map_or((), |mut failures| failures.push(message)),
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap_or_default();
    failures.sort();
    let known: BTreeSet<_> = sources.iter().flat_map(|source| PARTS.map(|(part, _)| source.file_name(part))).collect();
    let folders = [&[images.clone()][..], &PARTS.map(|(part, _)| images.join(part))].concat();
    for folder in folders {
        for file in files(&folder)? {
            if !are_all || file.strip_prefix(&images).is_ok_and(|name| known.contains(name)) {
                continue;
            }
            if check {
                failures.push(format!("{}: no source belongs to it; `cargo xtask kernels` removes it", file.display()));
            } else {
                fs::remove_file(&file).map_err(at(&file))?;
            }
        }
    }
    if !failures.is_empty() {
        return Err(failures.join("\n"));
    }
    let record = Record::read(&kernels)?;
    if check {
        return sources.iter().try_for_each(|source| record.check(&kernels, source));
    }
    let known = all.iter().map(String::as_str).collect();
    record.write(&kernels, &sources.iter().collect::<Vec<_>>(), &known)
}

/// A source file and the image it becomes.
struct Source {
    /// Relative to the folder of kernels: `bfs/queue.cu`.
    path: String,
    /// `bfs_queue`, or `transpose` from `transpose.cu`.
    image: String,
    text: String,
}

impl Source {
    /// Compiles the source and checks what it states; returns the image and a line about it.
    fn build(&self) -> Result<(Vec<u8>, String), String> {
        let output = format!("{}.fatbin", self.image);
        let mut compiler = Command::new("toolkit/bin/nvcc");
        compiler.current_dir(FIXED_DIRECTORY).args(arguments());
        let log = output_of(compiler.arg(&self.path).arg("-o").arg(&output))
            .map_err(|message| format!("{}: it does not compile\n{message}", self.path))?;
        let most = self.check_registers(&log)?;
        self.check_instructions(&output)?;
        let file = Path::new(FIXED_DIRECTORY).join(&output);
        let image = fs::read(&file).map_err(at(&file))?;
        let summary = format!("{} bytes, at most {most} registers", image.len());
        Ok((image, summary))
    }

    /// The file name of a part of the image.
    fn file_name(&self, part: &str) -> PathBuf {
        Path::new(part).join(format!("{}.fatbin.xz", self.image))
    }

    /// Writes the image in its parts, packed, or compares it with the existing one. The comparison ignores the packing.
    fn deliver(&self, images: &Path, image: &[u8], summary: String, check: bool) -> Result<String, String> {
        let mut written = 0;
        for (part, belongs) in PARTS {
            let wanted = part_of(image, belongs).ok_or_else(|| format!("{}: its image can't be read", self.path))?;
            let file = images.join(self.file_name(part));
            let there = fs::read(&file).ok();
            if there.as_deref().is_some_and(|there| unpacked(there).is_ok_and(|there| there == wanted)) {
                continue;
            }
            if check {
                let state = if there.is_some() { "is not what its source compiles to" } else { "is missing" };
                return Err(format!("{} {state}; run `cargo xtask kernels` and commit the result", file.display()));
            }
            fs::create_dir_all(images.join(part)).map_err(at(images))?;
            let packed = packed(&wanted).map_err(at(&file))?;
            fs::write(&file, &packed).map_err(at(&file))?;
            written += packed.len();
        }
        Ok(if written == 0 { summary + ", unchanged" } else { format!("{summary}, written in {written} bytes") })
    }

    /// The statements after `// KEY` in the comments: the subject, if there is one, and the value.
    fn stated<'s>(&'s self, key: &'s str) -> impl Iterator<Item = (&'s str, &'s str)> {
        let comments = self.text.lines().filter_map(|line| line.trim().strip_prefix("// "));
        comments.filter_map(move |comment| {
            let (about, value) = comment.strip_prefix(key)?.split_once(':')?;
            let is_key = about.is_empty() || (about.starts_with(' ') && !about.trim().contains(' '));
            is_key.then_some((about.trim(), value.trim()))
        })
    }

    /// The most registers that any kernel uses; fails if one uses more than is stated.
    fn check_registers(&self, log: &str) -> Result<u32, String> {
        let (mut kernel, mut target, mut most) = ("", "", 0);
        for line in log.lines() {
            let mut quoted = line.split('\'').skip(1).step_by(2);
            if line.contains("Compiling entry function") {
                (kernel, target) = (quoted.next().unwrap_or(""), quoted.next().unwrap_or(""));
            }
            let Some((_, rest)) = line.split_once("Used ") else { continue };
            let used: u32 = rest.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
            most = most.max(used);
            for (about, budget) in self.stated("registers") {
                let budget: u32 =
                    budget.parse().map_err(|_| format!("{}: `registers: {budget}` is not a number", self.path))?;
                if used > budget && (about.is_empty() || about == kernel) {
                    let path = &self.path;
                    return Err(format!("{path}: {kernel} uses {used} registers on {target}, {budget} are allowed"));
                }
            }
        }
        Ok(most)
    }

    /// Fails if a required instruction is missing, or a forbidden one occurs.
    fn check_instructions(&self, image: &str) -> Result<(), String> {
        if self.stated("sass").chain(self.stated("no-sass")).next().is_none() {
            return Ok(());
        }
        let mut reader = Command::new("toolkit/bin/cuobjdump");
        let code = output_of(reader.current_dir(FIXED_DIRECTORY).args(["-sass", image]))?;
        for target in CUBINS.as_flattened().iter().map(|target| format!("sm_{target}")) {
            let operations = operations(&code, &target);
            if operations.is_empty() {
                return Err(format!("{}: there is no machine code for {target} in its image", self.path));
            }
            for (key, wanted) in [("sass", true), ("no-sass", false)] {
                let here = self.stated(key).filter(|(about, _)| about.is_empty() || *about == target);
                for (_, operation) in here {
                    let there = operations.iter().any(|found| {
                        found.strip_prefix(operation).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                    });
                    if there != wanted {
                        let is = if there { "there is" } else { "there is no" };
                        return Err(format!("{}: {is} {operation} in the machine code for {target}", self.path));
                    }
                }
            }
        }
        Ok(())
    }
}

/// A fat binary with those entries of an image that belong to a part, in their order; `None` if the image is no fat
/// binary.
///
/// A fat binary begins with a magic number, its version, and at byte 8 the size of the data after its header of 16
/// bytes. An entry begins with its kind (1: PTX, 2: machine code), and has at byte 4 the size of its own header, at
/// byte 8 the size of the data after that, and at byte 28 its target device.
fn part_of(image: &[u8], belongs: Belongs) -> Option<Vec<u8>> {
    let word = |at: usize| Some(u32::from_le_bytes(image.get(at..at + 4)?.try_into().ok()?));
    let long = |at: usize| Some(u64::from_le_bytes(image.get(at..at + 8)?.try_into().ok()?));
    let mut part = image.get(..16)?.to_vec();
    let mut at = 16;
    while at < image.len() {
        let end = at.checked_add(word(at + 4)? as usize)?.checked_add(usize::try_from(long(at + 8)?).ok()?)?;
        let entry = image.get(at..end).filter(|entry| !entry.is_empty())?;
        if belongs(word(at)? & 0xffff == 1, word(at + 28)?) {
            part.extend(entry);
        }
        at = end;
    }
    let size = part.len() as u64 - 16;
    part[8..16].copy_from_slice(&size.to_le_bytes());
    Some(part)
}

/// Packs a part for storage. Code for one kind of device resembles code for another, so all of it is packed together;
/// the compiler is told not to compress each entry alone.
fn packed(image: &[u8]) -> io::Result<Vec<u8>> {
    let mut options = XzOptions::with_preset(9);
    options.lzma_options.nice_len = LzmaOptions::NICE_LEN_MAX;
    // The dictionary is no larger than the data, since unpacking needs that much memory.
    options.lzma_options.dict_size = u32::try_from(image.len().next_power_of_two()).unwrap_or(u32::MAX).max(4096);
    let mut writer = XzWriter::new(Vec::new(), options)?;
    writer.write_all(image)?;
    writer.finish()
}

fn unpacked(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut image = Vec::new();
    XzReader::new(packed, false).read_to_end(&mut image)?;
    Ok(image)
}

/// The operations in the machine code for a target, as `cuobjdump -sass` shows them.
fn operations<'c>(code: &'c str, target: &str) -> BTreeSet<&'c str> {
    let mut operations = BTreeSet::new();
    let mut here = false;
    for line in code.lines() {
        if let Some(found) = line.trim().strip_prefix("code for ") {
            here = found.trim() == target;
        }
        let Some((_, instruction)) = line.split_once("*/") else { continue };
        let mut words = instruction.split_whitespace().skip_while(|word| word.starts_with('@') || *word == "{");
        if let Some(operation) = words.next().filter(|word| here && word.starts_with(|c: char| c.is_ascii_uppercase()))
        {
            operations.insert(operation.trim_end_matches(';'));
        }
    }
    operations
}

fn sources(kernels: &Path) -> Result<Vec<Source>, String> {
    let mut sources = Vec::new();
    for folder in FOLDERS {
        for file in files(&kernels.join(folder))? {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if file.extension().is_some_and(|extension| extension == "cu") {
                let text = fs::read_to_string(&file).map_err(at(&file))?;
                let (path, image) = match folder {
                    "" => (format!("{name}.cu"), name),
                    _ => (format!("{folder}/{name}.cu"), format!("{folder}_{name}")),
                };
                sources.push(Source { path, image, text });
            }
        }
    }
    // Begin with the longest sources, so that no compiler works on one after all others are done.
    sources.sort_by_key(|source| std::cmp::Reverse(source.text.len()));
    Ok(sources)
}

/// Lays out sources and toolchain in the fixed directory.
fn lay_out(kernels: &Path, toolchain: &Path) -> Result<(), String> {
    let fixed = Path::new(FIXED_DIRECTORY);
    if fixed.exists() {
        fs::remove_dir_all(fixed).map_err(at(fixed))?;
    }
    for folder in FOLDERS {
        let (from, to) = (kernels.join(folder), fixed.join(folder));
        fs::create_dir_all(&to).map_err(at(&to))?;
        for file in files(&from)? {
            let source = file.extension().is_some_and(|extension| extension == "cu" || extension == "cuh");
            if let Some(name) = file.file_name().filter(|_| source) {
                fs::copy(&file, to.join(name)).map_err(at(&file))?;
            }
        }
    }
    // The compiler resolves the real paths of its own files, so a symbolic link to the folder would not do. Hard links
    // are quick to make, if both places are on one disk.
    let toolkit = fixed.join("toolkit");
    fs::create_dir_all(&toolkit).map_err(at(&toolkit))?;
    for (part, hows) in [("bin", ["-rl", "-r"]), ("nvvm", ["-rl", "-r"]), ("include", ["-r", "-r"])] {
        let copy = |how: &&str| output_of(Command::new("cp").arg(how).arg(toolchain.join(part)).arg(&toolkit));
        copy(&hows[0]).or_else(|_| {
            let _ = fs::remove_dir_all(toolkit.join(part));
            copy(&hows[1])
        })?;
    }
    Ok(())
}

/// The files in a folder, sorted; none if there is no such folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let path = entry.map_err(at(folder))?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Creates the toolchain, unless it exists with the pinned versions.
fn install(folder: &Path) -> Result<PathBuf, String> {
    let mark = folder.join("pins");
    let pins = PINS.join("\n");
    if fs::read_to_string(&mark).is_ok_and(|there| there == pins)
        && let Some(toolkit) = toolkit_in(folder)
    {
        return Ok(toolkit);
    }
    println!("installing the CUDA toolchain in {} (300 MB, once)", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(at(folder))?;
    }
    output_of(Command::new("python3").args(["-m", "venv"]).arg(folder))
        .map_err(|message| format!("a Python environment can't be made; python3 with venv is needed\n{message}"))?;
    output_of(Command::new(folder.join("bin/pip")).args(["install", "-q", "--no-deps"]).args(PINS))?;
    let toolkit =
        toolkit_in(folder).ok_or_else(|| format!("{}: the packages have no nvcc in them", folder.display()))?;
    fs::write(&mark, pins).map_err(at(&mark))?;
    Ok(toolkit)
}

/// The toolkit within a Python environment.
fn toolkit_in(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    let pythons = fs::read_dir(folder.join("lib")).ok()?.filter_map(Result::ok);
    let mut toolkits = pythons.map(|python| python.path().join("site-packages/nvidia/cu13"));
    toolkits.find(|toolkit| toolkit.join("bin/nvcc").is_file())
}

/// The output of a program, both streams one after the other; if it fails, an error with that output.
pub(crate) fn output_of(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("`{program}` can't be started: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(text.into_owned()) } else { Err(format!("`{program}` failed\n{text}")) }
}

/// Adds the path to an error of the system.
pub(crate) fn at(path: &Path) -> impl Fn(std::io::Error) -> String + use<> {
    let path = path.to_owned();
    move |error| format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_state_budgets_and_instructions() {
        let source = Source {
            path: "bfs/queue.cu".into(),
            image: "bfs_queue".into(),
            text: "// Words: registers are many.\n// registers: 32\n// registers slow: 64\n  // sass sm_90: ATOMG\n"
                .into(),
        };
        assert_eq!(source.stated("registers").collect::<Vec<_>>(), [("", "32"), ("slow", "64")]);
        assert_eq!(source.stated("sass").collect::<Vec<_>>(), [("sm_90", "ATOMG")]);
        let log = |used: u32, kernel: &str| {
            format!(
                "ptxas info    : Compiling entry function '{kernel}' for 'sm_90'\nptxas info : Used {used} registers, x"
            )
        };
        assert_eq!(source.check_registers(&log(32, "quick")), Ok(32));
        let error = source.check_registers(&log(33, "quick")).unwrap_err();
        assert!(error.contains("quick uses 33 registers on sm_90, 32 are allowed"), "{error}");
    }

    #[test]
    fn what_the_compiler_made_is_compared_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let source = Source { path: "bfs/queue.cu".into(), image: "bfs_queue".into(), text: String::new() };
        // Each entry has a header of 32 bytes and distinct code.
        let entry = |is: u32, target: u32, code: u32| {
            let header = [is, 32, 80_000, 0, 0, 0, 0, target].into_iter();
            header.chain((0..20_000).map(|word| word ^ code)).flat_map(u32::to_le_bytes).collect::<Vec<u8>>()
        };
        let image_of = |entries: [Vec<u8>; 5]| {
            let body = entries.concat();
            [&[0xba55_ed50_0010_0001, body.len() as u64].map(u64::to_le_bytes).concat()[..], &body].concat()
        };
        let image =
            |code| image_of([entry(2, 80, 0), entry(2, 86, 1), entry(1, 90, 2), entry(2, 90, code), entry(2, 120, 4)]);
        let deliver = |image: &[u8], check| source.deliver(folder.path(), image, String::new(), check);
        assert!(deliver(&image(3), true).unwrap_err().contains("is missing"));
        assert!(deliver(&image(3), false).unwrap().contains("written"));
        assert!(deliver(&image(3), true).unwrap().contains("unchanged"));
        let file = |part| folder.path().join(part).join("bfs_queue.fatbin.xz");
        let stored = |part| unpacked(&fs::read(file(part)).unwrap()).unwrap();
        assert_eq!(stored("sm_8x")[16..], [entry(2, 80, 0), entry(2, 86, 1)].concat());
        assert_eq!(stored("ptx")[16..], entry(1, 90, 2));
        assert_eq!(stored("ptx")[8..16], 80_032_u64.to_le_bytes());
        let told = deliver(&image(5), true).unwrap_err();
        assert!(told.contains("sm_90") && told.contains("is not what its source compiles to"), "{told}");
        fs::write(file("ptx"), stored("ptx")).unwrap();
        assert!(deliver(&image(3), true).is_err(), "a part that is not packed");
        assert!(deliver(&image(3)[..80_000], true).is_err(), "an image that is cut short");
    }

    #[test]
    fn operations_are_found_by_target() {
        let code = "\n\tcode for sm_80\n        /*0050*/               @P0 EXIT ;       /* 0x0 */\n\
                    \tcode for sm_90\n        /*0010*/   ATOMG.E.ADD PT, R1 ;  /* 0x0 */\n   /* 0x000fe40000000f00 */\n";
        assert_eq!(operations(code, "sm_80").into_iter().collect::<Vec<_>>(), ["EXIT"]);
        assert_eq!(operations(code, "sm_90").into_iter().collect::<Vec<_>>(), ["ATOMG.E.ADD"]);
    }
}
