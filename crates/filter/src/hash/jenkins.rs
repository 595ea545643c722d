//! Bob Jenkins' lookup3 (`hashlittle`) as in HBase's `JenkinsHash`.
//!
//! The key is read as little-endian words on every platform.
//!
//! Source: <http://burtleburtle.net/bob/c/lookup3.c>; HBase:
//! `org.apache.hadoop.hbase.util.JenkinsHash`.

/// Hashes a key.
pub(crate) fn jenkins(key: &[u8], seed: u32) -> u32 {
    // HBase hashes Java arrays, which have fewer than 2^31 bytes.
    let start = 0xdead_beef_u32.wrapping_add(key.len() as u32).wrapping_add(seed);
    let mut state = [start; 3];

    let mut rest = key;
    while rest.len() > 12 {
        let (head, tail) = rest.split_at(12);
        add_words(&mut state, head);
        mix(&mut state);
        rest = tail;
    }
    if !rest.is_empty() {
        add_words(&mut state, rest);
        finish(&mut state);
    }
    state[2]
}

/// Adds up to twelve bytes, padded with zeros, as three little-endian words.
fn add_words(state: &mut [u32; 3], bytes: &[u8]) {
    let mut padded = [0; 12];
    padded[..bytes.len()].copy_from_slice(bytes);
    for (word, chunk) in state.iter_mut().zip(padded.chunks_exact(4)) {
        let mut four = [0; 4];
        four.copy_from_slice(chunk);
        *word = word.wrapping_add(u32::from_le_bytes(four));
    }
}

/// The function `mix()` of lookup3.
fn mix([a, b, c]: &mut [u32; 3]) {
    let step = |x: &mut u32, y: &mut u32, z: u32, rotation: u32| {
        // x -= y; x ^= rot(y, rotation); y += z
        *x = x.wrapping_sub(*y) ^ y.rotate_left(rotation);
        *y = y.wrapping_add(z);
    };
    step(a, c, *b, 4);
    step(b, a, *c, 6);
    step(c, b, *a, 8);
    step(a, c, *b, 16);
    step(b, a, *c, 19);
    step(c, b, *a, 4);
}

/// The function `final()` of lookup3.
fn finish([a, b, c]: &mut [u32; 3]) {
    let step = |x: &mut u32, y: u32, rotation: u32| {
        *x = (*x ^ y).wrapping_sub(y.rotate_left(rotation));
    };
    step(c, *b, 14);
    step(a, *c, 11);
    step(b, *a, 25);
    step(c, *b, 16);
    step(a, *c, 4);
    step(b, *a, 14);
    step(c, *b, 24);
}
