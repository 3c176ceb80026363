//! Datasets that the papers used and that nobody can generate: where they come from, and which are here.
//!
//! A dataset is a file in the data folder (`--data`, `$WARPATH_DATA`), as its publisher has it or compressed otherwise.
//! [`Dataset::get`] downloads it: to `FILE.partial`, which gets its name when it is whole and its checksum is right, and
//! which is removed otherwise. Its name is the one that is looked for, with the extension of the compression that what
//! came has, so that it is found and read wherever it came from. Where no checksum is known, the one of what came is told.

use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use warpath::formats::PartialFile;
use warpath::{Control, Error, Plan, Result};

/// A dataset.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Dataset {
    /// Its name here.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Who publishes it, and under which name.
    pub publisher: String,
    /// Where the file is.
    #[serde(default)]
    pub url: Option<String>,
    /// Where to find it, if a program can't fetch it.
    #[serde(default)]
    pub page: Option<String>,
    /// The SHA-256 of the file as it is downloaded.
    #[serde(default)]
    pub sha256: Option<String>,
    /// The SHA-256 of the text in it.
    #[serde(default)]
    pub sha256_text: Option<String>,
    files: Vec<FileName>,
    /// Whether an edge goes both ways, where the format does not tell.
    #[serde(default)]
    pub undirected: Option<bool>,
    /// How many vertices its publisher says.
    pub vertices: u64,
    /// How many lines with an edge or arc.
    pub edges: u64,
}

/// A name to look for, and in what that file is not the published one.
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

/// A dataset's file that is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// In what it is not the published one.
    pub differs: Option<String>,
}

/// What came of a download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Downloaded {
    /// The file.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// The SHA-256 of the file.
    pub sha256: String,
    /// Whether that, or the one of the text in it, was known and compared.
    pub checked: bool,
}

/// All datasets.
pub fn all() -> Vec<Dataset> {
    #[derive(Deserialize)]
    struct Table {
        dataset: Vec<Dataset>,
    }
    let table: std::result::Result<Table, _> = toml::from_str(include_str!("../datasets.toml"));
    // The file is part of the program, and a test reads it.
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

    /// The name of the file that a download makes, but for the extension of its compression.
    pub fn file_name(&self) -> &str {
        let published = self.url.as_deref().and_then(|url| url.rsplit('/').next());
        let name = published.unwrap_or(self.files[0].parts().0);
        EXTENSIONS.into_iter().find_map(|extension| name.strip_suffix(extension)).unwrap_or(name)
    }

    /// Downloads it into a folder, from its publisher or from another address.
    ///
    /// # Errors
    ///
    /// If there is no address, nobody answers, the connection ends too soon, the checksum is another one, or the file
    /// can't be written.
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
        download(url, &folder.join(self.file_name()), self.sha256.as_deref(), self.sha256_text.as_deref(), control)
    }
}

/// What the names of packed files end in.
const EXTENSIONS: [&str; 4] = [".gz", ".zst", ".bz2", ".xz"];

/// What the name of a file ends in that begins like this.
///
/// # Errors
///
/// What is to be done with an archive, which is no single file.
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

/// How long a server may keep silent.
const PATIENCE: Duration = Duration::from_secs(60);

/// Downloads a file and checks it; its name has the extension of its compression added.
fn download(
    url: &str,
    name: &Path,
    sha256: Option<&str>,
    sha256_text: Option<&str>,
    control: &Control,
) -> Result<Downloaded> {
    let failed = |what: String| Error::io(url, std::io::Error::other(what));
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        // The file as it is, whatever the server would like to unpack.
        .accept_encoding("identity")
        .build()
        .into();
    let asked = url.to_owned();
    let response = control.wait_for(move || agent.get(asked).call())?.map_err(|error| failed(error.to_string()))?;
    let length: Option<u64> =
        response.headers().get("content-length").and_then(|value| value.to_str().ok()?.parse().ok());
    let mut plan = Plan::new();
    plan.disk("the download", length.unwrap_or(0));
    plan.check_disk(name)?;
    let body = response.into_body().into_with_config().limit(u64::MAX).reader();
    let mut body = control.reader(move || Ok(body)).map_err(|error| Error::io(url, error))?;
    let mut buffer = vec![0; 1 << 16];
    let cut_off = |bytes: u64, error| match control.check() {
        Ok(()) => failed(format!("cut off after {bytes} bytes: {error}")),
        Err(interrupted) => interrupted,
    };
    // What it is packed with is in its first bytes.
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
        let name = name.file_name().unwrap_or_default().to_string_lossy();
        Error::invalid(format!("{url} is {what}; the file is looked for as {name}"))
    })?;
    let mut path = name.as_os_str().to_owned();
    path.push(extension);
    let path = Path::new(&path);
    let mut file = PartialFile::create(path, control)?;
    let (mut hash, mut bytes) = (Sha256::new(), 0_u64);
    while count > 0 {
        file.write_all(&buffer[..count]).map_err(|error| Error::io(path, error))?;
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
    file.finish()?;
    Ok(Downloaded { path: path.to_owned(), bytes, sha256: found, checked: sha256.is_some() || sha256_text.is_some() })
}

fn expect(url: &str, known: Option<&str>, found: impl FnOnce() -> Result<String>) -> Result<()> {
    let Some(known) = known else { return Ok(()) };
    let found = found()?;
    if found == known {
        return Ok(());
    }
    Err(Error::NotVerified(format!("{url} has the SHA-256 {found} instead of {known}; nothing was kept")))
}

/// The SHA-256 of what is in a stream, unpacked if it is a gzip.
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
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Answers one request with these bytes and closes the connection.
    fn server(answer: Vec<u8>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            stream.write_all(&answer).unwrap();
        });
        format!("http://{address}/graph.txt")
    }

    fn answer(length: usize, body: &[u8]) -> Vec<u8> {
        [format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").as_bytes(), body].concat()
    }

    const TEXT: &[u8] = b"0 1\n1 2\n";

    fn checksum(bytes: &[u8]) -> String {
        hexadecimal(&Sha256::digest(bytes))
    }

    #[test]
    fn the_table_is_in_order() {
        let all = all();
        assert!(all.len() > 15);
        for dataset in &all {
            assert!(dataset.url.is_some() || dataset.page.is_some(), "{}", dataset.name);
            assert!(!dataset.files.is_empty() && dataset.vertices > 0 && dataset.edges > 0, "{}", dataset.name);
            for checksum in dataset.sha256.iter().chain(&dataset.sha256_text) {
                assert_eq!(checksum.len(), 64, "{}", dataset.name);
            }
            assert_eq!(all.iter().filter(|other| other.name == dataset.name).count(), 1);
            let name = dataset.file_name();
            for extension in ["", ".gz"] {
                let folder = tempfile::tempdir().unwrap();
                std::fs::write(folder.path().join(format!("{name}{extension}")), "").unwrap();
                assert!(dataset.find(folder.path()).is_some(), "{name}{extension} is not found again");
            }
        }
        assert!(named("nothing").unwrap_err().to_string().contains("road-ny"));
    }

    #[test]
    fn a_file_comes_whole_and_checked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.txt");
        let url = server(answer(TEXT.len(), TEXT));
        let got = download(&url, &path, Some(&checksum(TEXT)), None, &Control::new()).unwrap();
        assert_eq!((got.bytes, got.checked, got.sha256), (8, true, checksum(TEXT)));
        assert_eq!(std::fs::read(&path).unwrap(), TEXT);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_text_in_a_gzip_is_checked() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(TEXT).unwrap();
        let packed = packed.finish().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.txt");
        let url = server(answer(packed.len(), &packed));
        let got = download(&url, &path, None, Some(&checksum(TEXT)), &Control::new()).unwrap();
        assert!(got.checked && got.path == folder.path().join("graph.txt.gz"), "{got:?}");
        let url = server(answer(packed.len(), &packed));
        let error = download(&url, &path, None, Some(&checksum(b"other")), &Control::new()).unwrap_err();
        assert!(matches!(error, Error::NotVerified(_)), "{error}");
    }

    #[test]
    fn a_wrong_checksum_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.txt");
        let url = server(answer(TEXT.len(), TEXT));
        let error = download(&url, &path, Some(&checksum(b"other")), None, &Control::new()).unwrap_err();
        assert!(error.to_string().contains("SHA-256"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_cut_connection_leaves_nothing_and_what_was_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.txt");
        std::fs::write(&path, "before").unwrap();
        let url = server(answer(1000, TEXT));
        let error = download(&url, &path, None, None, &Control::new()).unwrap_err();
        assert!(error.to_string().contains("cut off"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_told_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.txt");
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let body = vec![b'x'; 1 << 18];
        let url = server(answer(body.len(), &body));
        let error = download(&url, &path, None, None, &Control::new()).unwrap_err();
        assert_eq!(error.kind(), warpath::ErrorKind::Resources, "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_server_that_keeps_silent_can_be_interrupted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.txt");
        // One says nothing, the other no more than the beginning.
        for begun in [Vec::new(), answer(1000, TEXT)] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("http://{}/graph.txt", listener.local_addr().unwrap());
            let control = Control::new();
            let handle = control.clone();
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                stream.write_all(&begun).unwrap();
                std::thread::sleep(Duration::from_millis(200));
                handle.cancel();
                stream
            });
            let outcome = download(&url, &path, None, None, &control);
            assert!(matches!(outcome, Err(Error::Interrupted)), "{outcome:?}");
            drop(server.join().unwrap());
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn nobody_there_and_not_found_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.txt");
        let control = Control::new();
        let url = server(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec());
        assert!(download(&url, &path, None, None, &control).unwrap_err().to_string().contains("404"));
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(download(&format!("http://{closed}/x"), &path, None, None, &control).is_err());
        let cancelled = Control::new();
        cancelled.cancel();
        let url = server(answer(TEXT.len(), TEXT));
        assert!(matches!(download(&url, &path, None, None, &cancelled), Err(Error::Interrupted)));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_can_not_be_fetched_says_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let error = named("human-genes").unwrap().get(folder.path(), None, &Control::new()).unwrap_err();
        assert!(error.to_string().contains("networkrepository.com"), "{error}");
    }

    #[test]
    fn a_file_has_the_name_that_is_looked_for_wherever_it_came_from() {
        let packed = [
            (&b"\x1f\x8b\x08"[..], ".gz"),
            (b"\x28\xb5\x2f\xfd-", ".zst"),
            (b"BZh91AY&SY", ".bz2"),
            (b"\xfd7zXZ\0", ".xz"),
            (TEXT, ""),
            (b"B", ""),
            (b"", ""),
        ];
        for (content, extension) in packed {
            // The publisher of one has it as a gzip; the other can't be fetched by a program.
            for (dataset, name) in [("road-ny", "USA-road-d.NY.gr"), ("human-genes", "bio-human-gene1.mtx")] {
                let folder = tempfile::tempdir().unwrap();
                let dataset = named(dataset).unwrap();
                let url = server(answer(content.len(), content));
                let got = dataset.get(folder.path(), Some(&url), &Control::new()).unwrap();
                assert_eq!(got.path, folder.path().join(format!("{name}{extension}")));
                assert_eq!(std::fs::read(&got.path).unwrap(), content);
                assert_eq!(dataset.find(folder.path()).unwrap().path, got.path);
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let url = server(answer(8, b"PK\x03\x04rest"));
        let error = named("human-genes").unwrap().get(folder.path(), Some(&url), &Control::new()).unwrap_err();
        assert!(error.to_string().contains("ZIP") && error.to_string().contains("bio-human-gene1.mtx"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
