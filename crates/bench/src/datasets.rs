//! Datasets that the papers used and that can't be generated: their sources, and which are present.
//!
//! A dataset is a file in the data folder (`--data`, `$WARPATH_DATA`), as published or in another compression.
//! [`Dataset::get`] downloads it to `FILE.partial`. That file gets its final name once it is complete, its checksum is
//! right where one is known, and it reads as a graph with the numbers of vertices and edges in the table; otherwise it is
//! removed. The final name is the one that [`Dataset::find`] looks for, with the extension of the compression that was
//! received, whatever its source.

use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use warpath::formats::{FirstLine, Format, PartialFile};
use warpath::graph::{Direction, SelfLoops};
use warpath::{Control, Error, Graph, Plan, ReadOptions, Result};

/// A dataset.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Dataset {
    /// Its name in the table.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Its publisher, and the name it has there.
    pub publisher: String,
    /// The address of the file.
    #[serde(default)]
    pub url: Option<String>,
    /// The web page to get it from, if a program can't download it.
    #[serde(default)]
    pub page: Option<String>,
    /// The SHA-256 of the file as it is downloaded.
    #[serde(default)]
    pub sha256: Option<String>,
    /// The SHA-256 of its unpacked text.
    #[serde(default)]
    pub sha256_text: Option<String>,
    files: Vec<FileName>,
    /// Whether an edge goes both ways, if the format does not say.
    #[serde(default)]
    pub undirected: Option<bool>,
    /// The format, if a file does not tell it.
    #[serde(default)]
    format: Option<String>,
    /// The name of a file whose first line has the numbers of vertices and edges, and looks like an edge.
    #[serde(default)]
    counted: Option<String>,
    /// The number of vertices that its publisher states.
    pub vertices: u64,
    /// The number of lines with an edge or arc.
    pub edges: u64,
}

/// A file name to look for, and how that file differs from the published one.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum FileName {
    Published(String),
    Other(String, String),
}

impl FileName {
    fn parts(&self) -> (&str, Option<&str>) {
        match self {
            FileName::Published(name) => (name, None),
            FileName::Other(name, differs) => (name, Some(differs.as_str()).filter(|text| !text.is_empty())),
        }
    }
}

/// A dataset's local file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// How it differs from the published one.
    pub differs: Option<String>,
}

/// The result of a download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Downloaded {
    /// The file.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// The SHA-256 of the file.
    pub sha256: String,
    /// Whether the file's checksum, or its text's, was known and compared.
    pub checked: bool,
}

/// All datasets.
pub fn all() -> Vec<Dataset> {
    #[derive(Deserialize)]
    struct Table {
        dataset: Vec<Dataset>,
    }
    let table: std::result::Result<Table, _> = toml::from_str(include_str!("../datasets.toml"));
    // The table is part of the program, and a test reads it.
    table.map(|table| table.dataset).unwrap_or_default()
}

/// The dataset of this name.
///
/// # Errors
///
/// If there is none.
pub fn named(name: &str) -> Result<Dataset> {
    let all = all();
    let names: Vec<String> = all.iter().map(|dataset| dataset.name.clone()).collect();
    let found = all.into_iter().find(|dataset| dataset.name == name);
    found.ok_or_else(|| Error::invalid(format!("there is no dataset `{name}`; there are {}", names.join(", "))))
}

impl Dataset {
    /// Its file in a folder.
    pub fn find(&self, folder: &Path) -> Option<Found> {
        for (name, differs) in self.files.iter().map(FileName::parts) {
            for extension in std::iter::once("").chain(EXTENSIONS) {
                let path = folder.join(format!("{name}{extension}"));
                if path.is_file() {
                    return Some(Found { path, differs: differs.map(str::to_owned) });
                }
            }
        }
        None
    }

    /// The name of a downloaded file, without the extension of its compression.
    pub fn file_name(&self) -> &str {
        let published = self.url.as_deref().and_then(|url| url.rsplit('/').next());
        let name = published.unwrap_or(self.files[0].parts().0);
        EXTENSIONS.into_iter().find_map(|extension| name.strip_suffix(extension)).unwrap_or(name)
    }

    /// How its file of this name, compressed or not, is read.
    ///
    /// # Errors
    ///
    /// If the table names no known format.
    pub(crate) fn options(&self, name: &str, control: &Control) -> Result<ReadOptions> {
        let mut options = ReadOptions::new().control(control.clone()).self_loops(SelfLoops::Drop);
        if let Some(format) = &self.format {
            options = options.format(format.parse::<Format>()?);
        }
        if self.counted.as_ref().is_some_and(|counted| name.starts_with(counted.as_str())) {
            options = options.first_line(FirstLine::Counts);
        }
        Ok(match self.undirected {
            Some(true) => options.direction(Direction::Undirected),
            Some(false) => options.direction(Direction::Directed),
            None => options,
        })
    }

    /// How a graph differs from the published one, judged by its numbers of vertices and edges.
    pub(crate) fn difference(&self, graph: &Graph, is_published: bool) -> Option<String> {
        let count = |what: &str, found: u64, published: u64| {
            (found != published).then(|| format!("it has {found} {what}, the published one {published}"))
        };
        let edges = || count("edges", graph.input_counts().lines, self.edges).filter(|_| is_published);
        count("vertices", graph.vertices() as u64, self.vertices).or_else(edges)
    }

    /// Downloads it into a folder, from its publisher or from another address.
    ///
    /// # Errors
    ///
    /// If there is no address, nobody answers, the connection ends too soon or goes silent, the checksum differs, the
    /// file is not the graph of the table, or it can't be written.
    pub fn get(&self, folder: &Path, from: Option<&str>, control: &Control) -> Result<Downloaded> {
        let Some(url) = from.or(self.url.as_deref()) else {
            let page = self.page.as_deref().unwrap_or("its publisher");
            let (name, _) = self.files[0].parts();
            return Err(Error::invalid(format!(
                "{} is to be fetched by hand: {page}; the file is looked for as {name}, compressed or not",
                self.name
            )));
        };
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        self.download(url, folder, PATIENCE, control)
    }

    /// Fails unless the file is the graph of the table. Files that are not published directly, but behind a page, have
    /// other numbers of lines.
    fn check(&self, url: &str, name: &str, bytes: Vec<u8>, control: &Control) -> Result<()> {
        if is_web_page(&bytes) {
            return Err(Error::invalid(format!("{url} is a web page and no graph; nothing was kept")));
        }
        let graph = self.options(name, control)?.read_bytes(format!("{url}, read as {name}"), bytes)?;
        match self.difference(&graph, self.url.is_some()) {
            None => Ok(()),
            Some(difference) => {
                let name = &self.name;
                Err(Error::NotVerified(format!("{url} is not the graph {name}: {difference}; nothing was kept")))
            }
        }
    }
}

/// Whether text, perhaps in a gzip, begins like a web page and unlike any graph.
fn is_web_page(bytes: &[u8]) -> bool {
    let mut front = Vec::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        // If the gzip is damaged, reading it as a graph reports that.
        let _ = flate2::read::MultiGzDecoder::new(bytes).take(1 << 10).read_to_end(&mut front);
    } else {
        front.extend_from_slice(&bytes[..bytes.len().min(1 << 10)]);
    }
    let text = front.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&front).trim_ascii_start();
    let begins = |tag: &str| text.get(..tag.len()).is_some_and(|front| front.eq_ignore_ascii_case(tag.as_bytes()));
    ["<!doctype", "<html", "<head", "<?xml"].into_iter().any(begins)
}

/// The extensions of packed files.
const EXTENSIONS: [&str; 4] = [".gz", ".zst", ".bz2", ".xz"];

/// The extension for a file that begins with this content.
///
/// # Errors
///
/// What to do with an archive, which is not a single file.
fn extension(content: &[u8]) -> std::result::Result<&'static str, &'static str> {
    match content {
        [0x1f, 0x8b, ..] => Ok(".gz"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Ok(".zst"),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Ok(".bz2"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Ok(".xz"),
        [b'P', b'K', 3, 4, ..] => Err("a ZIP archive: unpack it by hand"),
        _ => Ok(""),
    }
}

/// How long a server may stay silent.
const PATIENCE: Duration = Duration::from_secs(60);

impl Dataset {
    /// Downloads the file and checks it; its name gets the extension of its compression. `patience` is how long the
    /// server may stay silent.
    fn download(&self, url: &str, folder: &Path, patience: Duration, control: &Control) -> Result<Downloaded> {
        let (sha256, sha256_text) = (self.sha256.as_deref(), self.sha256_text.as_deref());
        let failed = |what: String| Error::io(url, std::io::Error::other(what));
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_resolve(Some(patience))
            .timeout_connect(Some(patience))
            .timeout_recv_response(Some(patience))
            .timeout_per_read(Some(patience))
            // A file published over an encrypted connection is fetched over one, wherever the server redirects.
            .https_only(url.starts_with("https:"))
            // Get the file as published, without an encoding that the server adds.
            .accept_encoding("identity")
            .build()
            .into();
        let asked = url.to_owned();
        let response = control.wait_for(move || agent.get(asked).call())?.map_err(|error| failed(error.to_string()))?;
        let length: Option<u64> =
            response.headers().get("content-length").and_then(|value| value.to_str().ok()?.parse().ok());
        let mut plan = Plan::new();
        plan.disk("the download", length.unwrap_or(0));
        plan.check_disk(&folder.join(self.file_name()))?;
        let body = response.into_body().into_with_config().limit(u64::MAX).reader();
        let mut body = control.reader(move || Ok(body)).map_err(|error| Error::io(url, error))?;
        let mut buffer = vec![0; 1 << 16];
        let cut_off = |bytes: u64, error| match control.check() {
            Ok(()) => failed(format!("cut off after {bytes} bytes: {error}")),
            Err(interrupted) => interrupted,
        };
        // The first bytes tell the compression.
        const TELLING: usize = 6;
        let mut count = 0;
        while count < TELLING {
            control.progress("download", count as u64, length.unwrap_or(0))?;
            match body.read(&mut buffer[count..]).map_err(|error| cut_off(count as u64, error))? {
                0 => break,
                more => count += more,
            }
        }
        let extension = extension(&buffer[..count]).map_err(|what| {
            Error::invalid(format!("{url} is {what}; the file is looked for as {}", self.file_name()))
        })?;
        let name = self.file_name().to_owned() + extension;
        let path = folder.join(&name);
        let mut file = PartialFile::create(&path, control)?;
        let (mut hash, mut bytes) = (Sha256::new(), 0_u64);
        while count > 0 {
            file.write_all(&buffer[..count]).map_err(|error| Error::io(&path, error))?;
            hash.update(&buffer[..count]);
            bytes += count as u64;
            control.progress("download", bytes, length.unwrap_or(0))?;
            count = body.read(&mut buffer).map_err(|error| cut_off(bytes, error))?;
        }
        if let Some(length) = length.filter(|length| *length != bytes) {
            return Err(failed(format!("cut off: {bytes} of {length} bytes came")));
        }
        let found = hexadecimal(&hash.finalize());
        expect(url, sha256, || Ok(found.clone()))?;
        expect(url, sha256_text, || file.read_back(sha256_of_text))?;
        let mut plan = Plan::new();
        plan.memory("what came, to be checked", bytes);
        plan.check(warpath::available_memory())?;
        let content = file.read_back(|stream| {
            let mut content = Vec::new();
            content.try_reserve_exact(bytes as usize)?;
            stream.read_to_end(&mut content).map(|_| content)
        })?;
        self.check(url, &name, content, control)?;
        file.finish()?;
        Ok(Downloaded { path, bytes, sha256: found, checked: sha256.is_some() || sha256_text.is_some() })
    }
}

fn expect(url: &str, known: Option<&str>, found: impl FnOnce() -> Result<String>) -> Result<()> {
    let Some(known) = known else { return Ok(()) };
    let found = found()?;
    if found == known {
        return Ok(());
    }
    Err(Error::NotVerified(format!("{url} has the SHA-256 {found} instead of {known}; nothing was kept")))
}

/// The SHA-256 of a stream's content, unpacked if it is a gzip.
fn sha256_of_text(stream: &mut dyn Read) -> std::io::Result<String> {
    let mut stream = std::io::BufReader::with_capacity(1 << 16, stream);
    let is_packed = stream.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    let mut text: Box<dyn Read> =
        if is_packed { Box::new(flate2::read::MultiGzDecoder::new(stream)) } else { Box::new(stream) };
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match text.read(&mut buffer)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            count => hash.update(&buffer[..count]),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
