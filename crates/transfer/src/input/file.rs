//! Input from a file or stdin, decompressed if it is in gzip or Zstandard format.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use cells::show_count;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::FrameDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

use super::limited_lines::LimitedLines;
use crate::error::{Error, Result};
use crate::read_bytes::ReadBytes;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The first of the sixteen magics of skippable frames. Files from `pzstd` start with it.
///
/// A file that starts with one of the other fifteen is not recognized as Zstandard.
const ZSTD_SKIPPABLE_MAGIC: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];
const BUFFER_LEN: usize = 1 << 16;

/// Opens a file, or stdin for `-`, and decompresses it if it starts with a gzip or Zstandard magic.
fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    open_counted(path, &ReadBytes::default())
}

/// Opens a file as [`open`] does, and counts the bytes read from it before decompression.
pub(super) fn open_counted(path: &Path, bytes: &ReadBytes) -> Result<Box<dyn BufRead>> {
    let mut input: Box<dyn BufRead> = if path == Path::new("-") {
        let stdin = bytes.counting(io::stdin().lock());
        Box::new(BufReader::with_capacity(BUFFER_LEN, stdin))
    } else {
        let file = File::open(path).map_err(|source| Error::Io {
            file: display_name(path),
            action: "open",
            source,
        })?;
        if let Some(metadata) = file.metadata().ok().filter(Metadata::is_file) {
            bytes.set_len(metadata.len());
        }
        Box::new(BufReader::with_capacity(BUFFER_LEN, bytes.counting(file)))
    };
    let start = input.fill_buf().map_err(|source| Error::Io {
        file: display_name(path),
        action: "read",
        source,
    })?;
    Ok(if start.starts_with(&GZIP_MAGIC) {
        Box::new(BufReader::with_capacity(BUFFER_LEN, MultiGzDecoder::new(input)))
    } else if start.starts_with(&ZSTD_MAGIC) || start.starts_with(&ZSTD_SKIPPABLE_MAGIC) {
        Box::new(BufReader::with_capacity(BUFFER_LEN, ZstdFrames::new(input)))
    } else {
        input
    })
}

/// Opens a list of row keys, one a line: a file, or stdin for `-`, compressed or not.
///
/// # Errors
///
/// If the file cannot be opened. Reading fails in a line of more than 1 MiB.
pub fn open_keys(path: &Path) -> Result<impl BufRead> {
    /// More than the longest row has, also if each byte is written as `\xNN`.
    const LINE_LEN_MAX: u64 = 1 << 20;
    Ok(LimitedLines::new(open(path)?, LINE_LEN_MAX, |max| {
        let limit = show_count(max);
        format!("it has more than {limit} bytes; a list of keys has one key per line").into()
    }))
}

/// Returns the name of an input as messages show it: its path, or `stdin`.
pub fn display_name(path: &Path) -> String {
    if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() }
}

/// A reader that decompresses consecutive Zstandard frames and verifies their checksums.
struct ZstdFrames<R> {
    input: R,
    decoder: FrameDecoder,
    is_in_frame: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(input: R) -> Self {
        Self { input, decoder: FrameDecoder::new(), is_in_frame: false }
    }

    /// Starts the next frame that is not skippable. Returns `false` at the end of the input.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.input.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let bytes = u64::from(length);
                    let skipped = io::copy(&mut (&mut self.input).take(bytes), &mut io::sink())?;
                    if skipped < bytes {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(damaged(error)),
            }
        }
    }

    /// Verifies the checksum of the frame, if it has one.
    fn check_sum(&self) -> io::Result<()> {
        match self.decoder.get_checksum_from_data() {
            Some(stated) if self.decoder.get_calculated_checksum() != Some(stated) => {
                Err(damaged("checksum mismatch"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_in_frame && !self.next_frame()? {
                return Ok(0);
            }
            self.is_in_frame = true;
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = ruzstd::decoding::BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.input, one).map_err(damaged)?;
            }
            let len = self.decoder.read(out)?;
            if len > 0 || out.is_empty() {
                return Ok(len);
            }
            self.check_sum()?;
            self.is_in_frame = false;
        }
    }
}

fn damaged(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("damaged Zstandard frame: {error}"))
}
