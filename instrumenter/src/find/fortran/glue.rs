//! Text that is put together from several places of a source.

use std::ops::Range;

/// Bytes that are read as one line, and the place of each byte in the source.
#[derive(Clone, Debug, Default)]
pub(super) struct Glued {
    pub(super) bytes: Vec<u8>,
    pieces: Vec<Piece>,
}

/// The begin of a piece, in the glued bytes and in the source.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: usize,
    source: usize,
    /// Whether the piece is in the source.
    real: bool,
}

impl Glued {
    /// Appends a piece of the source.
    pub(super) fn push(&mut self, text: &[u8], range: Range<usize>) {
        if !range.is_empty() {
            self.pieces.push(Piece {
                start: self.bytes.len(),
                source: range.start,
                real: true,
            });
            self.bytes.extend_from_slice(&text[range]);
        }
    }

    /// Appends a blank, even if the source has none there.
    pub(super) fn separate(&mut self, text: &[u8], at: usize) {
        self.pieces.push(Piece {
            start: self.bytes.len(),
            source: at,
            real: text.get(at) == Some(&b' '),
        });
        self.bytes.push(b' ');
    }

    /// The place of a byte in the source.
    pub(super) fn source(&self, at: usize) -> usize {
        let behind = self.pieces.partition_point(|piece| piece.start <= at);
        let piece = behind.checked_sub(1).map(|piece| self.pieces[piece]);
        piece.map_or(0, |piece| piece.source + (at - piece.start))
    }

    /// From the first to the last byte of a part, as places in the source.
    pub(super) fn source_range(&self, part: Range<usize>) -> Range<usize> {
        match part.is_empty() {
            true => self.source(part.start)..self.source(part.start),
            false => self.source(part.start)..self.source(part.end - 1) + 1,
        }
    }

    /// The pieces of the source that the line consists of.
    pub(super) fn source_pieces(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let ends = self.pieces.iter().skip(1).map(|piece| piece.start);
        let ends = ends.chain(std::iter::once(self.bytes.len()));
        let pieces = self.pieces.iter().zip(ends).filter(|(piece, _)| piece.real);
        pieces.map(|(piece, end)| piece.source..piece.source + (end - piece.start))
    }
}
