//! A builder of one Arrow array of values of a [`ValueType`].

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, Float32Builder,
    Float64Builder, Int8Builder, Int16Builder, Int32Builder, Int64Builder, StringBuilder,
    TimestampMillisecondBuilder,
};
use cells::{DecimalType, TypedValue, ValueType};

use crate::columns::{data_type, utc};

/// A builder of an array.
#[derive(Debug)]
pub(crate) enum TypedBuilder {
    Binary(BinaryBuilder),
    String(StringBuilder),
    Int8(Int8Builder),
    Int16(Int16Builder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    Float32(Float32Builder),
    Float64(Float64Builder),
    Bool(BooleanBuilder),
    Timestamp(TimestampMillisecondBuilder),
    Date(Date32Builder),
    Decimal(Decimal128Builder, DecimalType),
}

/// Calls a method of the builder of any variant.
macro_rules! any {
    ($self:expr, $builder:ident => $call:expr) => {
        match $self {
            TypedBuilder::Binary($builder) => $call,
            TypedBuilder::String($builder) => $call,
            TypedBuilder::Int8($builder) => $call,
            TypedBuilder::Int16($builder) => $call,
            TypedBuilder::Int32($builder) => $call,
            TypedBuilder::Int64($builder) => $call,
            TypedBuilder::Float32($builder) => $call,
            TypedBuilder::Float64($builder) => $call,
            TypedBuilder::Bool($builder) => $call,
            TypedBuilder::Timestamp($builder) => $call,
            TypedBuilder::Date($builder) => $call,
            TypedBuilder::Decimal($builder, _) => $call,
        }
    };
}

impl TypedBuilder {
    pub(crate) fn new(value_type: ValueType) -> Self {
        match value_type {
            ValueType::String => Self::String(StringBuilder::new()),
            ValueType::Int8 => Self::Int8(Int8Builder::new()),
            ValueType::Int16 => Self::Int16(Int16Builder::new()),
            ValueType::Int32 => Self::Int32(Int32Builder::new()),
            ValueType::Int64 => Self::Int64(Int64Builder::new()),
            ValueType::Float32 => Self::Float32(Float32Builder::new()),
            ValueType::Float64 => Self::Float64(Float64Builder::new()),
            ValueType::Bool => Self::Bool(BooleanBuilder::new()),
            ValueType::Timestamp => {
                Self::Timestamp(TimestampMillisecondBuilder::new().with_timezone(utc()))
            }
            ValueType::Date => Self::Date(Date32Builder::new()),
            ValueType::Decimal(decimal) => {
                let builder = Decimal128Builder::new().with_data_type(data_type(value_type));
                Self::Decimal(builder, decimal)
            }
            ValueType::BinaryHex => Self::Binary(BinaryBuilder::new()),
        }
    }

    const fn value_type(&self) -> ValueType {
        match self {
            Self::Binary(_) => ValueType::BinaryHex,
            Self::String(_) => ValueType::String,
            Self::Int8(_) => ValueType::Int8,
            Self::Int16(_) => ValueType::Int16,
            Self::Int32(_) => ValueType::Int32,
            Self::Int64(_) => ValueType::Int64,
            Self::Float32(_) => ValueType::Float32,
            Self::Float64(_) => ValueType::Float64,
            Self::Bool(_) => ValueType::Bool,
            Self::Timestamp(_) => ValueType::Timestamp,
            Self::Date(_) => ValueType::Date,
            Self::Decimal(_, decimal) => ValueType::Decimal(*decimal),
        }
    }

    /// Decodes and appends a value. Returns its type if it is not of the type.
    pub(crate) fn append(&mut self, value: &[u8]) -> Result<(), ValueType> {
        if let Self::Binary(builder) = self {
            builder.append_value(value);
            return Ok(());
        }
        let value_type = self.value_type();
        match (self, value_type.decode(value).ok_or(value_type)?) {
            (Self::String(builder), TypedValue::String(text)) => builder.append_value(text),
            (Self::Int8(builder), TypedValue::Int8(number)) => builder.append_value(number),
            (Self::Timestamp(builder), TypedValue::Timestamp(millis)) => {
                builder.append_value(millis);
            }
            (Self::Date(builder), TypedValue::Date(days)) => builder.append_value(days),
            (Self::Decimal(builder, _), TypedValue::Decimal(number)) => {
                builder.append_value(number);
            }
            (Self::Int16(builder), TypedValue::Int16(number)) => builder.append_value(number),
            (Self::Int32(builder), TypedValue::Int32(number)) => builder.append_value(number),
            (Self::Int64(builder), TypedValue::Int64(number)) => builder.append_value(number),
            (Self::Float32(builder), TypedValue::Float32(number)) => builder.append_value(number),
            (Self::Float64(builder), TypedValue::Float64(number)) => builder.append_value(number),
            (Self::Bool(builder), TypedValue::Bool(truth)) => builder.append_value(truth),
            (_, value) => unreachable!("{value_type:?} decodes to {value:?}"),
        }
        Ok(())
    }

    pub(crate) fn append_null(&mut self) {
        any!(self, builder => builder.append_null());
    }

    /// Returns the array, and begins the next one.
    pub(crate) fn finish(&mut self) -> ArrayRef {
        any!(self, builder => Arc::new(builder.finish()))
    }
}
