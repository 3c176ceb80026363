//! What the host and a kernel must agree on, defined once: argument structs and constants.
//!
//! [`kernel_header!`] defines them in Rust. For C++ it makes a header in `kernels/generated`, which the kernel includes. The
//! headers are committed; a test fails if one of them is not what the definitions give. This refreshes them:
//!
//! ```text
//! WARPATH_REFRESH_HEADERS=1 cargo test -p warpath --lib kernel_header
//! ```
//!
//! Both compilers check the layout: Rust asserts that no two fields have a gap between them, so that no rule of alignment
//! can move one, and the header asserts the size of each struct and the offset of each field as Rust has them.
//!
//! Some structs are templates in C++, over the type of offsets, a lane, or a type of cell. Pointers have one size, so there
//! is one struct for all of them in Rust, and pointers to what the parameters decide have a type of [`cpp`].
//!
//! *Invariants.* An argument has the size and the layout of the kernel's parameter: a pointer is an address of 64 bits, and
//! structs are asserted to be laid out the same.

use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;

use super::device::Argument;

/// The address of values that a kernel reads: `const T*`.
#[repr(transparent)]
pub(crate) struct DevicePtr<T> {
    address: u64,
    points_to: PhantomData<fn() -> T>,
}

/// The address of values that a kernel may write: `T*`.
#[repr(transparent)]
pub(crate) struct DeviceMutPtr<T> {
    address: u64,
    points_to: PhantomData<fn() -> T>,
}

macro_rules! pointers {
    ($($pointer:ident),*) => {$(
        impl<T> $pointer<T> {
            /// Points nowhere.
            pub(crate) const NULL: Self = Self::new(0);

            /// Points to this address.
            pub(crate) const fn new(address: u64) -> Self {
                $pointer { address, points_to: PhantomData }
            }

            /// The same address, of other values.
            pub(crate) const fn cast<U>(self) -> $pointer<U> {
                $pointer::new(self.address)
            }
        }

        impl<T> Clone for $pointer<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $pointer<T> {}

        // SAFETY: a kernel takes the address, which is all there is.
        unsafe impl<T> Argument for $pointer<T> {}

        impl<T> Debug for $pointer<T> {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x}", self.address)
            }
        }
    )*};
}
pointers!(DevicePtr, DeviceMutPtr);

/// Types that only C++ has.
pub(crate) mod cpp {
    macro_rules! types {
        ($($(#[$doc:meta])* $name:ident = $cpp:literal;)*) => {$(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub(crate) enum $name {}

            #[cfg(test)]
            impl super::generate::Element for $name {
                fn cpp() -> String {
                    $cpp.into()
                }
            }
        )*};
    }
    types! {
        /// `u32` or `u64`.
        Offset = "Offset";
        /// The weight of an arc.
        Weight = "typename Lane::Weight";
        /// The head of a shortcut and its length, side by side.
        Step = "Arc<typename Lane::Distance>";
        /// The head of an arc and its weight, side by side.
        Arc = "Arc<typename Lane::Weight>";
        /// The tail of an arc, its head and its weight, side by side.
        Record = "Record<typename Lane::Weight>";
        /// A distance.
        Distance = "typename Lane::Distance";
        /// A cell of a matrix.
        Number = "typename Cell::Number";
        /// One cell or several, as they are worked on together.
        Word = "typename Cell::Word";
        /// Whatever the kernel takes it for.
        Void = "void";
    }
}

/// Defines constants and argument structs for Rust, and `header`, which is the header of C++ with the same, for tests.
///
/// ```ignore
/// kernel_header! {
///     path: "bfs/many_sources";        // in `kernels/generated`
///     namespace: many_sources;         // of the structs in C++
///     constants {
///         /// Blocks of a launch, at most.
///         const MOST_BLOCKS: u32 = 256;    // `most_blocks` in C++
///     }
///     /// The argument of the kernel.
///     struct Batch<Offset> {               // a template in C++
///         /// Where the arcs of each vertex begin.
///         offsets: DevicePtr<cpp::Offset>,
///     }
/// }
/// ```
macro_rules! kernel_header {
    (
        path: $path:literal;
        $(namespace: $namespace:ident;)?
        $(constants {$(
            $(#[doc = $constant_doc:literal])*
            $constant_vis:vis const $constant:ident: $constant_type:ty = $value:expr;
        )*})?
        $(
            $(#[doc = $doc:literal])+
            $(#[derive($($derive:path),*)])?
            $vis:vis struct $name:ident $(<$($parameter:ident),*>)? {$(
                $(#[doc = $field_doc:literal])*
                $field_vis:vis $field:ident: $field_type:ty,
            )*}
        )*
    ) => {
        $($(
            $(#[doc = $constant_doc])*
            $constant_vis const $constant: $constant_type = $value;
        )*)?
        $(
            $(#[doc = $doc])+
            #[repr(C)]
            #[derive(Debug, Clone, Copy $($(, $derive)*)?)]
            $vis struct $name {$(
                $(#[doc = $field_doc])*
                $field_vis $field: $field_type,
            )*}

            // SAFETY: it is laid out as in C++, which the header asserts.
            unsafe impl $crate::cuda::device::Argument for $name {}

            const _: () = {
                let mut end = 0;
                $(
                    assert!(std::mem::offset_of!($name, $field) == end, "a gap before a field");
                    end += size_of::<$field_type>();
                )*
                assert!(size_of::<$name>() - end < align_of::<$name>(), "a gap after the last field");
            };

            #[cfg(test)]
            impl $crate::cuda::kernel_header::generate::Element for $name {
                fn cpp() -> String {
                    stringify!($name).into()
                }
            }

            #[cfg(test)]
            impl $crate::cuda::kernel_header::generate::Field for $name {
                fn declare(name: &str) -> String {
                    format!("{} {name}", stringify!($name))
                }
            }
        )*

        /// The same for C++.
        #[cfg(test)]
        pub(in $crate::cuda) fn header() -> $crate::cuda::kernel_header::generate::Header {
            #[allow(unused_imports, reason = "some headers have constants only")]
            use $crate::cuda::kernel_header::generate::{self, Element as _, Field as _, Value as _};
            generate::Header {
                path: $path,
                source: file!(),
                namespace: concat!($(stringify!($namespace))?),
                constants: vec![$($(generate::Constant {
                    docs: &[$($constant_doc),*],
                    name: stringify!($constant),
                    cpp: <$constant_type as generate::Element>::cpp(),
                    value: $constant.literal(),
                }),*)?],
                structs: vec![$(generate::Struct {
                    docs: &[$($doc),*],
                    parameters: &[$($(stringify!($parameter)),*)?],
                    name: stringify!($name),
                    bytes: size_of::<$name>(),
                    fields: vec![$(generate::StructField {
                        docs: &[$($field_doc),*],
                        name: stringify!($field),
                        declaration: <$field_type as generate::Field>::declare(stringify!($field)),
                        offset: std::mem::offset_of!($name, $field),
                    }),*],
                }),*],
            }
        }
    };
}
pub(crate) use kernel_header;

/// Headers, as text.
#[cfg(test)]
pub(crate) mod generate {
    use std::fmt::Write;

    use super::{DeviceMutPtr, DevicePtr};

    /// What a pointer can point to.
    pub(crate) trait Element {
        /// Its name in C++.
        fn cpp() -> String;
    }

    /// What a struct can have.
    pub(crate) trait Field {
        /// The declaration of a field of this name.
        fn declare(name: &str) -> String;
    }

    /// What a constant can be.
    pub(crate) trait Value {
        /// Its value in C++.
        fn literal(&self) -> String;
    }

    macro_rules! elements {
        ($($element:ty = $cpp:literal),*) => {
            $(impl Element for $element {
                fn cpp() -> String {
                    $cpp.into()
                }
            })*
        };
    }
    elements!(
        u8 = "u8",
        u16 = "u16",
        u32 = "u32",
        u64 = "u64",
        i64 = "long long",
        f32 = "float",
        f64 = "double",
        [u32; 2] = "uint2",
        [u32; 4] = "uint4"
    );

    macro_rules! numbers {
        ($($number:ty),*) => {$(
            impl Field for $number {
                fn declare(name: &str) -> String {
                    format!("{} {name}", <$number as Element>::cpp())
                }
            }
        )*};
    }
    numbers!(u16, u32, u64, i64, f32, f64);

    impl<T: Element> Field for DevicePtr<T> {
        fn declare(name: &str) -> String {
            format!("const {}* {name}", T::cpp())
        }
    }

    impl<T: Element> Field for DeviceMutPtr<T> {
        fn declare(name: &str) -> String {
            format!("{}* {name}", T::cpp())
        }
    }

    impl<F: Field, const N: usize> Field for [F; N] {
        fn declare(name: &str) -> String {
            F::declare(&format!("{name}[{N}]"))
        }
    }

    impl Value for u32 {
        fn literal(&self) -> String {
            self.to_string()
        }
    }

    pub(crate) struct Constant {
        pub(crate) docs: &'static [&'static str],
        pub(crate) name: &'static str,
        pub(crate) cpp: String,
        pub(crate) value: String,
    }

    pub(crate) struct StructField {
        pub(crate) docs: &'static [&'static str],
        pub(crate) name: &'static str,
        pub(crate) declaration: String,
        pub(crate) offset: usize,
    }

    pub(crate) struct Struct {
        pub(crate) docs: &'static [&'static str],
        pub(crate) parameters: &'static [&'static str],
        pub(crate) name: &'static str,
        pub(crate) bytes: usize,
        pub(crate) fields: Vec<StructField>,
    }

    pub(crate) struct Header {
        pub(crate) path: &'static str,
        pub(crate) source: &'static str,
        pub(crate) namespace: &'static str,
        pub(crate) constants: Vec<Constant>,
        pub(crate) structs: Vec<Struct>,
    }

    impl Header {
        /// Its text.
        pub(crate) fn text(&self) -> String {
            let source = self.source.replace('\\', "/");
            let source = source.rsplit_once("src/").map_or(&*source, |(_, path)| path);
            let mut text = format!(
                "// Made from `src/{source}`. `src/cuda/kernel_header.rs` says how to refresh it.\n\
                 #pragma once\n#include \"{}layout.cuh\"\n",
                "../".repeat(self.path.split('/').count())
            );
            if !self.namespace.is_empty() {
                writeln!(text, "\nnamespace {} {{", self.namespace).unwrap();
            }
            if !self.constants.is_empty() {
                text.push('\n');
            }
            for Constant { docs, name, cpp, value } in &self.constants {
                write_docs(&mut text, "", docs);
                writeln!(text, "constexpr {cpp} {} = {value};", name.to_lowercase()).unwrap();
            }
            self.structs.iter().for_each(|item| item.write(&mut text));
            if !self.namespace.is_empty() {
                writeln!(text, "\n}}  // namespace {}", self.namespace).unwrap();
            }
            text
        }
    }

    impl Struct {
        fn write(&self, text: &mut String) {
            text.push('\n');
            write_docs(text, "", self.docs);
            if !self.parameters.is_empty() {
                writeln!(text, "template <class {}>", self.parameters.join(", class ")).unwrap();
            }
            writeln!(text, "struct {} {{", self.name).unwrap();
            for StructField { docs, declaration, .. } in &self.fields {
                match docs {
                    [doc] if declaration.len() + doc.len() < 112 => {
                        writeln!(text, "    {declaration};  //{doc}").unwrap();
                    }
                    _ => {
                        write_docs(text, "    ", docs);
                        writeln!(text, "    {declaration};").unwrap();
                    }
                }
            }
            text.push_str("};\n");
            let mut checked = self.name.to_owned();
            if !self.parameters.is_empty() {
                checked = format!("{}Layout", self.name);
                let arguments: Vec<String> = self.parameters.iter().map(|name| format!("layout::{name}")).collect();
                writeln!(text, "using {checked} = {}<{}>;", self.name, arguments.join(", ")).unwrap();
            }
            writeln!(text, "static_assert(sizeof({checked}) == {}, \"\");", self.bytes).unwrap();
            for StructField { name, offset, .. } in &self.fields {
                writeln!(text, "static_assert(offsetof({checked}, {name}) == {offset}, \"\");").unwrap();
            }
        }
    }

    fn write_docs(text: &mut String, indentation: &str, docs: &[&str]) {
        docs.iter().for_each(|doc| writeln!(text, "{indentation}///{doc}").unwrap());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};
    use std::{env, fs};

    use super::generate::Header;
    use crate::cuda::{
        apsp, betweenness, bfs, closure, customization, frontier, level_sums, matrix, neighborhoods, parts, peers,
        regions, sssp, zero_copy,
    };

    /// Every header.
    const HEADERS: &[fn() -> Header] = &[
        apsp::hierarchy::arguments::header,
        apsp::katz_kider::program::header,
        apsp::matrix::header,
        apsp::outgoing::header,
        apsp::strips::worker::header,
        apsp::successors::header,
        betweenness::header,
        bfs::direction_optimizing::header,
        bfs::many_sources::arrays::header,
        bfs::multi_hop::header,
        bfs::one_block::header,
        bfs::partitioned::header,
        bfs::singh::header,
        bfs::zero_copy::header,
        closure::bit_product::header,
        closure::warshall::header,
        customization::header,
        frontier::header,
        level_sums::header,
        matrix::blocks::header,
        matrix::by_vertex::header,
        matrix::tiles::header,
        neighborhoods::header,
        parts::bfs_header,
        parts::mail_header,
        parts::sssp_header,
        peers::header,
        regions::header,
        sssp::bellman_ford::header,
        sssp::counts::header,
        sssp::many_sources::arrays::header,
        sssp::mask::header,
        sssp::multi_hop::header,
        sssp::near_far::header,
        sssp::predecessors::header,
        sssp::work_efficient::header,
        sssp::zero_copy::header,
        zero_copy::header,
    ];

    fn files(folder: &Path) -> BTreeSet<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { BTreeSet::from([path]) }).collect()
    }

    /// If this fails, refresh them: see the top of this file.
    #[test]
    #[cfg_attr(miri, ignore = "reads files")]
    fn committed_headers_are_what_the_definitions_give() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/generated");
        if !folder.exists() {
            return println!("skipped: {} is absent, as the sources are", folder.display());
        }
        let mut expected = BTreeSet::new();
        for header in HEADERS {
            let header = header();
            let (path, text) = (folder.join(format!("{}.cuh", header.path)), header.text());
            if env::var_os("WARPATH_REFRESH_HEADERS").is_some()
                && fs::read_to_string(&path).ok().as_ref() != Some(&text)
            {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, &text).unwrap();
            }
            assert_eq!(fs::read_to_string(&path).unwrap_or_default(), text, "{} is out of date", path.display());
            expected.insert(path);
        }
        assert_eq!(files(&folder), expected, "headers that nothing defines");
    }
}
