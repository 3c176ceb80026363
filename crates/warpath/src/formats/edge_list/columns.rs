//! The columns of a line.

use crate::formats::Separator;

/// The columns of a line. Blanks around a column don't count. A column that begins with a double quote goes on to the
/// closing one, whatever is between; a doubled quote stands for a quote. A quote elsewhere is a part of the text.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    separator: Option<u8>,
    done: bool,
    /// Whether the last column begins with a quote that nothing closes.
    pub(super) is_open: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a [u8], separator: Separator) -> Self {
        Fields { rest: line, separator: separator.byte(), done: false, is_open: false }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.done {
            return None;
        }
        let is_blank = |byte: &u8| byte.is_ascii_whitespace() && self.separator != Some(*byte);
        let start = self.rest.iter().position(|byte| !is_blank(byte)).unwrap_or(self.rest.len());
        self.rest = &self.rest[start..];
        let quoted = match self.rest.first() {
            Some(b'"') => quoted_length(self.rest).unwrap_or_else(|| {
                self.is_open = true;
                self.rest.len()
            }),
            _ => 0,
        };
        let unquoted = &self.rest[quoted..];
        let end = match self.separator {
            None => unquoted.iter().position(u8::is_ascii_whitespace),
            Some(separator) => unquoted.iter().position(|&byte| byte == separator),
        };
        let length = quoted + end.unwrap_or(unquoted.len());
        let field = &self.rest[..length];
        match end {
            Some(_) => self.rest = &self.rest[length + 1..],
            None => self.done = true,
        }
        if self.separator.is_none() { (!field.is_empty()).then_some(field) } else { Some(field.trim_ascii_end()) }
    }
}

/// How long the text in quotes is with which this text begins; `None` if the quote is not closed.
fn quoted_length(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += text.get(at..)?.iter().position(|&byte| byte == b'"')? + 1;
        if text.get(at) != Some(&b'"') {
            return Some(at);
        }
        at += 1;
    }
}

/// A column without the quotes around it.
#[inline]
pub(super) fn unquoted(field: &[u8]) -> &[u8] {
    if field.first() == Some(&b'"') && quoted_length(field) == Some(field.len()) {
        &field[1..field.len() - 1]
    } else {
        field
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_protect_what_is_between_them() {
        let fields = |line: &'static str, separator| -> Vec<&str> {
            Fields::new(line.as_bytes(), separator).map(|field| std::str::from_utf8(field).unwrap()).collect()
        };
        assert_eq!(fields(r#" "a,b" , c"d,"e""f",,"#, Separator::Comma), [r#""a,b""#, r#"c"d"#, r#""e""f""#, "", ""]);
        assert_eq!(fields(r#"  "New York" "a""b"  5 "#, Separator::Blank), [r#""New York""#, r#""a""b""#, "5"]);
        assert_eq!(fields("a b\t\tc ", Separator::Tab), ["a b", "", "c"]);
        let mut open = Fields::new(b"a,\"b,c", Separator::Comma);
        assert_eq!(open.by_ref().count(), 2);
        assert!(open.is_open);
        for (field, inside) in
            [("\"a\"", "a"), ("\"a\" \"b\"", "\"a\" \"b\""), ("\"", "\""), ("\"\"\"\"", "\"\""), ("a\"", "a\"")]
        {
            assert_eq!(unquoted(field.as_bytes()), inside.as_bytes(), "{field}");
        }
    }
}
