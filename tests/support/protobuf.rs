//! Parts of protobuf messages, for tests that write HBase's descriptions and logs.

/// Returns a variable-length integer.
///
/// # Panics
///
/// If the number is negative.
pub fn varint(number: impl TryInto<u64>) -> Vec<u8> {
    let mut rest = number.try_into().ok().expect("not negative");
    let mut bytes = Vec::new();
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

/// Returns a field of a message with bytes.
pub fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2][..], &varint(bytes.len()), bytes].concat()
}
