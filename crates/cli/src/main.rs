//! `hfile`: HFiles without a JVM.
fn main() {}
