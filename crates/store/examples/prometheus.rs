//! Serves the counters of a store as a page for Prometheus.
//!
//! `cargo run -p hfile-store --features metrics --example prometheus -- DIR 127.0.0.1:9100` opens a store and serves
//! the page until it is ended; the test of this example reads the page once.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use store::{Store, StoreOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("give the directory of a store")?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:9100".to_owned());
    let listener = TcpListener::bind(address)?;
    eprintln!("http://{}/metrics", listener.local_addr()?);
    serve(&open(Path::new(&directory))?, &install()?, &listener, usize::MAX)
}

/// Makes a recorder the one of this process. It also gets the times of flushes and compactions.
fn install() -> Result<PrometheusHandle, Box<dyn Error>> {
    Ok(PrometheusBuilder::new().install_recorder()?)
}

fn open(directory: &Path) -> store::Result<Store> {
    Store::open(directory, StoreOptions::default())
}

/// Answers requests, each with the counters of that moment.
fn serve(
    store: &Store,
    recorder: &PrometheusHandle,
    listener: &TcpListener,
    requests: usize,
) -> Result<(), Box<dyn Error>> {
    for stream in listener.incoming().take(requests) {
        store.stats().record_metrics("example");
        answer(stream?, &recorder.render())?;
    }
    Ok(())
}

fn answer(mut stream: TcpStream, page: &str) -> std::io::Result<()> {
    // The request is not looked at, only read to its end.
    for line in BufReader::new(&stream).lines() {
        if line?.is_empty() {
            break;
        }
    }
    let len = page.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {len}\r\n\r\n{page}"
    )
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use store::{CompactionKind, FamilyOptions, Get, Put};

    use super::*;

    #[test]
    fn the_page_has_the_counters_of_the_store() {
        let directory = tempfile::tempdir().expect("a directory");
        let recorder = install().expect("the first of this process");
        let store = open(directory.path()).expect("a new store");
        store.create_family("f", FamilyOptions::default()).expect("created");
        for flush in 0..2 {
            store.put(Put::new(format!("row{flush}")).column("f", "q", "value")).expect("written");
            store.flush().expect("flushed");
        }
        store.compact("f", CompactionKind::Major).expect("compacted");
        store.put(Put::new("row7").column("f", "q", "in memory")).expect("written");
        for _ in 0..3 {
            store.get(&Get::row("row0")).expect("read");
        }

        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let page = std::thread::scope(|scope| {
            scope.spawn(|| {
                serve(&store, &recorder, &listener, 1).map_err(|error| error.to_string())
            });
            let mut stream = TcpStream::connect(address).expect("connected");
            stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("sent");
            let mut page = String::new();
            stream.read_to_string(&mut page).expect("an answer");
            page
        });
        let value = |metric: &str, labels: &[&str]| {
            let is_wanted = |line: &&str| {
                line.starts_with(&format!("{metric}{{"))
                    && labels.iter().all(|label| line.contains(label))
            };
            let line = page.lines().find(is_wanted);
            let line = line.unwrap_or_else(|| panic!("{metric} {labels:?} in {page}"));
            line.rsplit(' ').next().expect("a value")
        };
        let family = "family=\"f\"";
        assert!(page.starts_with("HTTP/1.1 200 OK"), "{page}");
        assert_eq!(value("store_gets", &["store=\"example\"", family]), "3");
        assert_eq!(value("store_flushes", &[]), "2");
        assert_eq!(value("store_compactions", &[]), "1");
        assert_ne!(value("store_compaction_bytes", &["direction=\"read\""]), "0");
        assert_ne!(value("store_compaction_bytes", &["direction=\"written\""]), "0");
        assert_ne!(value("store_log_bytes", &[]), "0");
        assert_eq!(value("store_memstore_cells", &[family]), "1");
        assert_eq!(value("store_write_stalls", &[]), "0");
        assert_ne!(value("store_blocks", &[family, "kind=\"data\"", "source=\"cache\""]), "0");
        assert_eq!(value("store_files", &[family]), "1");
        assert!(page.contains("store_flush_seconds"), "the times are there, too");
    }
}
