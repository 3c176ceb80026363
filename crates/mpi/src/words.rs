//! Values and texts as the 32-bit words that messages carry.

use bytemuck::Pod;

/// How many words a value takes in a message.
pub(crate) const fn words_of<T>() -> usize {
    size_of::<T>().div_ceil(4)
}

/// Adds a value to a message.
#[inline]
pub(crate) fn push<T: Pod>(words: &mut Vec<u32>, value: T) {
    for bytes in bytemuck::bytes_of(&value).chunks_exact(4) {
        words.push(u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    }
}

/// The value that these words of a message are.
#[inline]
pub(crate) fn pull<T: Pod>(words: &[u32]) -> T {
    bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words[..words_of::<T>()]))
}

/// Adds a text to a message: its bytes, behind their number.
pub(crate) fn push_text(words: &mut Vec<u32>, text: &str) {
    words.push(text.len() as u32);
    words.extend(text.as_bytes().chunks(4).map(|bytes| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(word)
    }));
}

/// Takes a text off the front of a message; `None` if it is damaged.
pub(crate) fn pull_text(words: &mut &[u32]) -> Option<String> {
    let (&length, bytes) = words.split_first()?;
    let length = length as usize;
    let (bytes, later) = bytes.split_at_checked(length.div_ceil(4))?;
    *words = later;
    let bytes: Vec<u8> = bytes.iter().flat_map(|word| word.to_le_bytes()).take(length).collect();
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_as_they_went() {
        let texts = ["", "a", "abcd", "Zürich", "五", "with \0"];
        let mut words = Vec::new();
        texts.iter().for_each(|text| push_text(&mut words, text));
        let mut rest = &words[..];
        assert!(texts.iter().all(|&text| pull_text(&mut rest).as_deref() == Some(text)) && rest.is_empty());
        assert!(pull_text(&mut &words[3..4]).is_none() && pull_text(&mut &[][..]).is_none());
    }
}
