//! The columns of a line.

/// The separator of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delimiter {
    /// Any run of blanks and tabs.
    Blank,
    /// This byte; blanks around it don't count, and a column in double quotes may contain it.
    Byte(u8),
}

impl Delimiter {
    /// Guesses the separator from this line.
    pub(super) fn of(line: &[u8]) -> Self {
        let outside_quotes = |wanted: u8| {
            let mut quoted = false;
            line.iter().any(|&byte| {
                quoted ^= byte == b'"';
                byte == wanted && !quoted
            })
        };
        if let Some(byte) = [b',', b';', b'|'].into_iter().find(|&byte| outside_quotes(byte)) {
            // In a line with tabs, the byte is a part of names. If it stands next to a tab, the tabs are padding.
            let by_tabs: Vec<&[u8]> = Delimiter::Byte(b'\t').fields(line).filter(|part| !part.is_empty()).collect();
            let is_padded = by_tabs.iter().any(|part| part.starts_with(&[byte]) || part.ends_with(&[byte]));
            return Delimiter::Byte(if by_tabs.len() >= 2 && !is_padded { b'\t' } else { byte });
        }
        // Tabs can separate names that contain blanks.
        let by_tabs = line.split(|&byte| byte == b'\t').filter(|part| !part.trim_ascii().is_empty()).count();
        let by_blanks: Vec<&[u8]> = Fields { rest: line, delimiter: Delimiter::Blank, done: false }.collect();
        let names = by_blanks.iter().any(|part| !part[0].is_ascii_digit() && part[0] != b'-');
        if by_tabs >= 2 && by_tabs != by_blanks.len() && names { Delimiter::Byte(b'\t') } else { Delimiter::Blank }
    }

    pub(super) fn fields(self, line: &[u8]) -> Fields<'_> {
        Fields { rest: line, delimiter: self, done: false }
    }
}

/// The columns of a line.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    delimiter: Delimiter,
    done: bool,
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.done {
            return None;
        }
        let is_blank = |byte: &u8| byte.is_ascii_whitespace() && self.delimiter != Delimiter::Byte(*byte);
        let start = self.rest.iter().position(|byte| !is_blank(byte)).unwrap_or(self.rest.len());
        self.rest = &self.rest[start..];
        let mut quoted = false;
        let end = match self.delimiter {
            Delimiter::Blank => self.rest.iter().position(u8::is_ascii_whitespace),
            Delimiter::Byte(delimiter) => self.rest.iter().position(|&byte| {
                quoted ^= byte == b'"';
                byte == delimiter && !quoted
            }),
        };
        let field = &self.rest[..end.unwrap_or(self.rest.len())];
        match end {
            Some(end) => self.rest = &self.rest[end + 1..],
            None => self.done = true,
        }
        if self.delimiter == Delimiter::Blank {
            (!field.is_empty()).then_some(field)
        } else {
            Some(field.trim_ascii_end())
        }
    }
}

/// A column without the quotes around it.
pub(super) fn unquoted(field: &[u8]) -> &[u8] {
    match field {
        [b'"', inside @ .., b'"'] => inside,
        _ => field,
    }
}
