//! Numbers that each row of a module has for itself: where a kernel's values begin, how many slots
//! it has.

/// Rows whose numbers lie evenly apart: `offset + row * stride` from this row on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub from: u32,
    pub offset: u32,
    pub stride: u32,
}

/// The numbers in as few pieces as a look at the next one gives; rows without one go with the piece
/// before.
pub(crate) fn pieces(numbers: &[Option<u32>]) -> Vec<Piece> {
    let known: Vec<(u32, u32)> =
        (0..).zip(numbers).filter_map(|(row, number)| Some((row, (*number)?))).collect();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut rest = known.as_slice();
    while let [(row, number), after @ ..] = rest {
        let stride =
            after.first().map_or(0, |(next, other)| other.wrapping_sub(*number) / (next - row));
        let offset = number.wrapping_sub(row.wrapping_mul(stride));
        let fits =
            |(row, number): &&(u32, u32)| row.wrapping_mul(stride).wrapping_add(offset) == *number;
        let count = rest.iter().take_while(fits).count();
        pieces.push(Piece { from: if pieces.is_empty() { 0 } else { *row }, offset, stride });
        rest = &rest[count..];
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_made_of_few_pieces() {
        let piece = |from, offset, stride| Piece { from, offset, stride };
        for (numbers, expected) in [
            (vec![Some(7), Some(7), Some(7)], vec![piece(0, 7, 0)]),
            (
                vec![Some(0), Some(4), Some(8), Some(100), Some(110)],
                vec![piece(0, 0, 4), piece(3, 70, 10)],
            ),
            (vec![None, Some(5), None, Some(9)], vec![piece(0, 3, 2)]),
            (vec![None, None], vec![]),
        ] {
            assert_eq!(pieces(&numbers), expected, "{numbers:?}");
        }
    }

    #[test]
    fn every_row_has_its_number() {
        for numbers in
            [vec![3, 3, 9, 15, 15, 2], vec![8, 0], vec![5, 6, 8, 11, 15], vec![u32::MAX, 0, 1]]
        {
            let pieces = pieces(&numbers.iter().copied().map(Some).collect::<Vec<_>>());
            for (row, number) in (0..).zip(&numbers) {
                let piece = pieces.iter().rev().find(|piece| piece.from <= row).unwrap();
                assert_eq!(
                    piece.offset.wrapping_add(piece.stride.wrapping_mul(row)),
                    *number,
                    "{numbers:?}"
                );
            }
        }
    }
}
