//! Graphs from files and into files: one file a format.
//!
//! [`read`] finds the format from the content, then from the extension, and unpacks what is compressed. Everything a
//! reader may do differently is in [`ReadOptions`].
