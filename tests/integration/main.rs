//! The contents page: one module a subject.

mod golden;
