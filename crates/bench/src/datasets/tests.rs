use std::net::TcpListener;

use super::*;

/// Starts a server that answers one request with these bytes and closes the connection.
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

/// A dataset whose file is that text.
fn dataset() -> Dataset {
    Dataset {
        name: "small".into(),
        title: "A small one".into(),
        publisher: "nobody".into(),
        url: Some("https://localhost/graph.txt.gz".into()),
        page: None,
        sha256: None,
        sha256_text: None,
        files: vec![FileName::Published("graph.txt".into())],
        undirected: None,
        format: None,
        counted: None,
        vertices: 3,
        edges: 2,
    }
}

fn get(dataset: &Dataset, folder: &Path, body: &[u8]) -> Result<Downloaded> {
    dataset.get(folder, Some(&server(answer(body.len(), body))), &Control::new())
}

fn files_in(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

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
        for address in dataset.url.iter().chain(&dataset.page) {
            assert!(address.starts_with("https://"), "{address}");
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
    let got = get(&Dataset { sha256: Some(checksum(TEXT)), ..dataset() }, folder.path(), TEXT).unwrap();
    assert_eq!((got.bytes, got.checked, got.sha256), (8, true, checksum(TEXT)));
    assert_eq!(std::fs::read(&got.path).unwrap(), TEXT);
    assert_eq!(files_in(folder.path()), 1);
    assert!(!get(&dataset(), folder.path(), TEXT).unwrap().checked);
}

#[test]
fn the_text_in_a_gzip_is_checked() {
    let packed = gzip(TEXT);
    let folder = tempfile::tempdir().unwrap();
    let known = Dataset { sha256_text: Some(checksum(TEXT)), ..dataset() };
    let got = get(&known, folder.path(), &packed).unwrap();
    assert!(got.checked && got.path == folder.path().join("graph.txt.gz"), "{got:?}");
    let other = Dataset { sha256_text: Some(checksum(b"other")), ..dataset() };
    let error = get(&other, folder.path(), &packed).unwrap_err();
    assert!(matches!(error, Error::NotVerified(_)), "{error}");
}

#[test]
fn a_wrong_checksum_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let other = Dataset { sha256: Some(checksum(b"other")), ..dataset() };
    let error = get(&other, folder.path(), TEXT).unwrap_err();
    assert!(error.to_string().contains("SHA-256"), "{error}");
    assert_eq!(files_in(folder.path()), 0);
}

#[test]
fn a_web_page_is_no_graph() {
    let folder = tempfile::tempdir().unwrap();
    for page in ["<!DOCTYPE html><title>Moved</title>", " \n<html>0 1</html>", "\u{feff}<?xml version=\"1.0\"?>"] {
        for body in [page.as_bytes().to_vec(), gzip(page.as_bytes())] {
            let error = get(&dataset(), folder.path(), &body).unwrap_err();
            assert!(error.to_string().contains("is a web page"), "{error}");
            assert_eq!(files_in(folder.path()), 0);
        }
    }
}

#[test]
fn what_is_not_the_graph_of_the_table_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let cut = gzip(&TEXT.repeat(100));
    let bodies: [(&[u8], &str); 6] = [
        (b"0 1\n1 2\n2 3\n", "4 vertices, the published one 3"),
        (b"0 1\n1 2\n2 0\n", "3 edges, the published one 2"),
        (b"0 1\n1 what is this\n", "read as graph.txt"),
        (b"", "0 vertices"),
        (b"It works!", "2 vertices, the published one 3"),
        (&cut[..cut.len() - 9], "read as graph.txt.gz"),
    ];
    for (body, message) in bodies {
        let error = get(&dataset(), folder.path(), body).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(files_in(folder.path()), 0, "{message}");
    }
    // A file from behind a page has other numbers of lines.
    let by_hand = Dataset { url: None, page: Some("a page".into()), edges: 4, ..dataset() };
    get(&by_hand, folder.path(), TEXT).unwrap();
}

#[test]
fn a_cut_connection_leaves_nothing_and_what_was_there_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.txt");
    std::fs::write(&path, "before").unwrap();
    let url = server(answer(1000, TEXT));
    let error = dataset().get(folder.path(), Some(&url), &Control::new()).unwrap_err();
    assert!(error.to_string().contains("cut off"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"before");
    assert_eq!(files_in(folder.path()), 1);
}

#[test]
fn a_server_that_falls_silent_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/graph.txt", listener.local_addr().unwrap());
    let (done, waits) = std::sync::mpsc::channel::<()>();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        stream.write_all(&answer(1000, TEXT)).unwrap();
        // The connection stays open.
        let _ = waits.recv();
    });
    let patience = Duration::from_millis(300);
    let error = dataset().download(&url, folder.path(), patience, &Control::new()).unwrap_err();
    assert!(error.to_string().contains("cut off after 8 bytes"), "{error}");
    assert_eq!(files_in(folder.path()), 0);
    drop(done);
    server.join().unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_as_such() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("graph.txt")).unwrap();
    let error = get(&dataset(), folder.path(), &vec![b'x'; 1 << 18]).unwrap_err();
    assert_eq!(error.kind(), warpath::ErrorKind::Resources, "{error}");
    assert_eq!(files_in(folder.path()), 1);
}

#[test]
fn a_server_that_keeps_silent_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    // One server sends nothing, the other only the beginning.
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
        let outcome = dataset().get(folder.path(), Some(&url), &control);
        assert!(matches!(outcome, Err(Error::Interrupted)), "{outcome:?}");
        drop(server.join().unwrap());
        assert_eq!(files_in(folder.path()), 0);
    }
}

#[test]
fn nobody_there_and_not_found_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let get = |url: &str, control: &Control| dataset().get(folder.path(), Some(url), control);
    let control = Control::new();
    let url = server(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec());
    assert!(get(&url, &control).unwrap_err().to_string().contains("404"));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(get(&format!("http://{closed}/x"), &control).is_err());
    let cancelled = Control::new();
    cancelled.cancel();
    let url = server(answer(TEXT.len(), TEXT));
    assert!(matches!(get(&url, &cancelled), Err(Error::Interrupted)));
    assert_eq!(files_in(folder.path()), 0);
}

#[test]
fn what_can_not_be_fetched_says_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let error = named("human-genes").unwrap().get(folder.path(), None, &Control::new()).unwrap_err();
    assert!(error.to_string().contains("networkrepository.com"), "{error}");
}

#[test]
fn a_file_has_the_name_that_is_looked_for_wherever_it_came_from() {
    let graph = ReadOptions::new().read_bytes("graph.txt", TEXT.to_vec()).unwrap();
    let by_hand = Dataset { url: None, page: Some("a page".into()), ..dataset() };
    for extension in ["", ".gz", ".zst", ".bz2", ".xz"] {
        let folder = tempfile::tempdir().unwrap();
        let packed = folder.path().join(format!("packed.txt{extension}"));
        warpath::write(&graph, &packed).unwrap();
        let content = std::fs::read(&packed).unwrap();
        std::fs::remove_file(&packed).unwrap();
        // The first dataset is published as a gzip; a program can't download the second.
        for dataset in [&dataset(), &by_hand] {
            let got = get(dataset, folder.path(), &content).unwrap();
            assert_eq!(got.path, folder.path().join(format!("graph.txt{extension}")));
            assert_eq!(std::fs::read(&got.path).unwrap(), content);
            assert_eq!(dataset.find(folder.path()).unwrap().path, got.path);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let error = get(&by_hand, folder.path(), b"PK\x03\x04rest").unwrap_err();
    assert!(error.to_string().contains("ZIP") && error.to_string().contains("graph.txt"), "{error}");
    assert_eq!(files_in(folder.path()), 0);
}

#[test]
fn what_begins_like_a_compression_but_is_none_is_text() {
    for content in [&b"B"[..], b"", b"BZh", b"1 2\n"] {
        assert_eq!(extension(content), Ok(""));
    }
}
