//! The record of what each image was made from: a checksum over its sources, its packed parts and the compiler's arguments, in
//! `kernels/images.txt`. Whoever changes one of these and does not run `cargo xtask kernels` is found within a second, without a compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{PARTS, Source, at};

/// The checksum of each image.
pub(super) struct Record {
    file: PathBuf,
    sums: BTreeMap<String, String>,
}

impl Record {
    /// What is recorded for the kernels in this folder.
    pub(super) fn read(kernels: &Path) -> Result<Self, String> {
        let file = kernels.join("images.txt");
        let text = if file.exists() { fs::read_to_string(&file).map_err(at(&file))? } else { String::new() };
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        Ok(Record { file, sums: lines.map(|(sum, image)| (image.to_owned(), sum.to_owned())).collect() })
    }

    /// Records what these images are made from now, forgets all that are not in `known`, and writes the file.
    pub(super) fn write(mut self, kernels: &Path, made: &[&Source], known: &BTreeSet<&str>) -> Result<(), String> {
        self.sums.retain(|image, _| known.contains(image.as_str()));
        for source in made {
            self.sums.insert(source.image.clone(), sum_of(kernels, source)?);
        }
        let text: String = self.sums.iter().map(|(image, sum)| format!("{sum} {image}\n")).collect();
        fs::write(&self.file, text).map_err(at(&self.file))
    }

    /// An error unless this image is made from what is there now.
    pub(super) fn check(&self, kernels: &Path, source: &Source) -> Result<(), String> {
        if self.sums.get(&source.image) == Some(&sum_of(kernels, source)?) {
            return Ok(());
        }
        let (path, image) = (&source.path, &source.image);
        Err(format!(
            "{path}: since its image was made something has changed; run `cargo xtask kernels {image}` and commit the result"
        ))
    }
}

/// The checksum of what an image is made from, and of itself.
fn sum_of(kernels: &Path, source: &Source) -> Result<String, String> {
    let mut files = BTreeSet::new();
    include(kernels, Path::new(&source.path), &mut files)?;
    files.extend(PARTS.map(|(part, _)| Path::new("images").join(source.file_name(part))));
    let mut sum = Sha256::new();
    let mut add = |bytes: &[u8]| {
        sum.update((bytes.len() as u64).to_le_bytes());
        sum.update(bytes);
    };
    add(super::arguments().join("\n").as_bytes());
    for file in files {
        let path = kernels.join(&file);
        add(file.to_string_lossy().replace('\\', "/").as_bytes());
        add(&fs::read(&path).map_err(at(&path))?);
    }
    Ok(sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Adds a source file and whatever it includes of this folder, but for the emulator.
fn include(kernels: &Path, file: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), String> {
    if file.starts_with("emulator") || !files.insert(file.to_owned()) {
        return Ok(());
    }
    let path = kernels.join(file);
    let text = fs::read_to_string(&path).map_err(at(&path))?;
    for name in text.lines().filter_map(|line| line.trim().strip_prefix("#include \"")?.split('"').next()) {
        let mut there = file.parent().unwrap_or(Path::new("")).to_owned();
        for step in name.split('/') {
            match step {
                ".." => _ = there.pop(),
                step => there.push(step),
            }
        }
        include(kernels, &there, files)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_changes_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let kernels = folder.path();
        let write = |name: &str, text: &str| {
            let path = kernels.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("bfs/queue.cu", "#include \"../rows.cuh\"\n#include <cstdint>\n");
        write("rows.cuh", "  #include \"emulator/absent.hpp\"\n#include \"generated/rows.cuh\"\n");
        write("generated/rows.cuh", "#include \"../rows.cuh\"\n");
        write("other.cuh", "");
        let source = Source { path: "bfs/queue.cu".into(), image: "bfs_queue".into(), text: String::new() };
        let parts = PARTS.map(|(part, _)| format!("images/{}", source.file_name(part).display()));
        parts.iter().for_each(|part| write(part, "machine code"));
        let check = || Record::read(kernels).unwrap().check(kernels, &source);
        assert!(check().unwrap_err().contains("xtask kernels bfs_queue"));
        let record =
            || Record::read(kernels).unwrap().write(kernels, &[&source], &BTreeSet::from(["bfs_queue"])).unwrap();
        record();
        check().unwrap();
        write("other.cuh", "// no part of it");
        check().unwrap();
        for name in ["bfs/queue.cu", "rows.cuh", "generated/rows.cuh", parts[2].as_str()] {
            let text = fs::read_to_string(kernels.join(name)).unwrap();
            write(name, &format!("{text} "));
            assert!(check().is_err(), "{name}");
            record();
            check().unwrap();
        }
        Record::read(kernels).unwrap().write(kernels, &[], &BTreeSet::new()).unwrap();
        assert!(check().is_err());
    }
}
