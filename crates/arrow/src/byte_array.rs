//! Arrays of text and bytes, in all of Arrow's layouts and with dictionaries.

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray,
    LargeStringArray, StringArray, StringViewArray,
};
use arrow_schema::DataType;

/// An array of text or bytes.
#[derive(Clone, Debug)]
pub(crate) enum ByteArray {
    Utf8(StringArray),
    LargeUtf8(LargeStringArray),
    Utf8View(StringViewArray),
    Binary(BinaryArray),
    LargeBinary(LargeBinaryArray),
    BinaryView(BinaryViewArray),
    FixedSizeBinary(FixedSizeBinaryArray),
    /// Indexes of the values of another array; of null, any index.
    Dictionary(Vec<usize>, Box<ByteArray>),
}

impl ByteArray {
    /// Returns the array if it has text or bytes.
    pub(crate) fn new(array: &ArrayRef) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Utf8 => Self::Utf8(array.as_string().clone()),
            DataType::LargeUtf8 => Self::LargeUtf8(array.as_string().clone()),
            DataType::Utf8View => Self::Utf8View(array.as_string_view().clone()),
            DataType::Binary => Self::Binary(array.as_binary().clone()),
            DataType::LargeBinary => Self::LargeBinary(array.as_binary().clone()),
            DataType::BinaryView => Self::BinaryView(array.as_binary_view().clone()),
            DataType::FixedSizeBinary(_) => {
                Self::FixedSizeBinary(array.as_fixed_size_binary().clone())
            }
            // Without values there is nothing to refer to: all keys are null.
            DataType::Dictionary(..) if !array.as_any_dictionary().values().is_empty() => {
                let dictionary = array.as_any_dictionary();
                let values = Self::new(dictionary.values())?;
                Self::Dictionary(dictionary.normalized_keys(), Box::new(values))
            }
            _ => return None,
        })
    }

    /// Whether the array has text, and not bytes.
    pub(crate) fn is_text(&self) -> bool {
        match self {
            Self::Dictionary(_, values) => values.is_text(),
            _ => matches!(self, Self::Utf8(_) | Self::LargeUtf8(_) | Self::Utf8View(_)),
        }
    }

    /// Returns the bytes of a value (text: its UTF-8 bytes); of null, any bytes.
    pub(crate) fn value(&self, index: usize) -> &[u8] {
        match self {
            Self::Utf8(array) => array.value(index).as_bytes(),
            Self::LargeUtf8(array) => array.value(index).as_bytes(),
            Self::Utf8View(array) => array.value(index).as_bytes(),
            Self::Binary(array) => array.value(index),
            Self::LargeBinary(array) => array.value(index),
            Self::BinaryView(array) => array.value(index),
            Self::FixedSizeBinary(array) => array.value(index),
            Self::Dictionary(keys, values) => values.value(keys[index]),
        }
    }
}
