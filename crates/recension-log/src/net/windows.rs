//! Reading many records from a system that gives one for a request: several are asked for at once, twice as many each
//! time, as long as there are more and they have room. So a node that catches up waits for few answers.

use std::thread::Builder;

use crate::limits::{AHEAD_MAX, PAGE_RECORDS};
use crate::{LogError, Position, Result};

type Page = Vec<(Position, Vec<u8>)>;

/// The records from `from` on, of about `bytes_max` bytes. `get` gives the record at a position, if there is one, and
/// an empty one where it was trimmed.
pub(crate) fn read<G>(from: Position, bytes_max: usize, get: G) -> Result<Page>
where
    G: Fn(Position) -> Result<Option<Vec<u8>>> + Sync,
{
    pages(from, bytes_max, |positions| at_once(positions, &get))
}

/// The same, with the records of several positions for a question.
fn pages(
    from: Position,
    bytes_max: usize,
    mut ask: impl FnMut(&[Position]) -> Vec<Result<Option<Vec<u8>>>>,
) -> Result<Page> {
    let mut page: Page = Vec::new();
    let (mut bytes, mut window, mut next) = (0_usize, 1, from);
    while bytes < bytes_max && page.len() < PAGE_RECORDS {
        let positions: Vec<_> = (next.0..).take(window).map(Position).collect();
        for (position, answer) in positions.iter().zip(ask(&positions)) {
            let record = match answer {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(page),
                // What was read is of use without it.
                Err(_) if !page.is_empty() => return Ok(page),
                Err(error) => return Err(error),
            };
            if record.is_empty() {
                return Err(LogError::Trimmed { asked: *position, first: None });
            }
            bytes += record.len();
            page.push((*position, record));
        }
        next = Position(next.0 + window as u64);
        let room = bytes_max.saturating_sub(bytes) / (bytes / page.len().max(1)).max(1);
        window = (window * 2).min(AHEAD_MAX).min(room.max(1));
    }
    Ok(page)
}

fn at_once<G>(positions: &[Position], get: &G) -> Vec<Result<Option<Vec<u8>>>>
where
    G: Fn(Position) -> Result<Option<Vec<u8>>> + Sync,
{
    if let [position] = positions {
        return vec![get(*position)];
    }
    std::thread::scope(|scope| {
        let ask = |position: &Position| {
            let position = *position;
            let name = "recension-fetch".to_owned();
            (position, Builder::new().name(name).spawn_scoped(scope, move || get(position)).ok())
        };
        let asked: Vec<_> = positions.iter().map(ask).collect();
        let answer = |(position, thread): (Position, Option<std::thread::ScopedJoinHandle<'_, _>>)| {
            // Without a thread it is asked for now.
            thread.map_or_else(
                || get(position),
                |thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            )
        };
        asked.into_iter().map(answer).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of this many records of this many bytes.
    fn log(count: u64, len: usize) -> impl Fn(Position) -> Result<Option<Vec<u8>>> + Sync {
        move |position| Ok((position.0 <= count).then(|| vec![position.0 as u8; len]))
    }

    /// Reads all, and counts how often it waited for answers, and the most that were asked for at once.
    fn rounds(count: u64, len: usize, bytes_max: usize) -> (u64, usize, usize) {
        let (get, mut next, mut waited, mut widest) = (log(count, len), Position::FIRST, 0, 0);
        loop {
            let page = pages(next, bytes_max, |positions| {
                waited += 1;
                widest = widest.max(positions.len());
                at_once(positions, &get)
            });
            let page = page.unwrap();
            let Some((last, _)) = page.last() else { return (next.0 - 1, waited, widest) };
            assert!(page.iter().map(|(position, _)| *position).eq((next.0..=last.0).map(Position)));
            next = last.next();
        }
    }

    #[test]
    fn a_node_that_catches_up_waits_for_few_answers() {
        for count in [0, 1, 2, 31, 854, 3000] {
            let (read, waited, widest) = rounds(count, 200, 8 << 20);
            assert_eq!(read, count);
            let most = 12 + count as usize / AHEAD_MAX;
            assert!(waited <= most && widest <= AHEAD_MAX, "{count} records: {waited} times, {widest} at once");
        }
        // Large ones are not asked for beyond the room that they have.
        let (read, waited, widest) = rounds(20, 4000, 16_000);
        assert_eq!(read, 20);
        assert!(widest <= 3 && waited < 20, "{waited} times, {widest} at once");
    }

    #[test]
    fn what_was_read_before_a_failure_is_handed_on_and_what_was_trimmed_is_told() {
        let fails = |position: Position| match position.0 {
            0..6 => Ok(Some(vec![1])),
            _ => Err(LogError::Unavailable("the test says so".to_owned())),
        };
        assert_eq!(read(Position(1), 1 << 20, fails).unwrap().len(), 5);
        assert!(read(Position(6), 1 << 20, fails).is_err());
        let trimmed = |position: Position| Ok(Some(vec![0; usize::from(position.0 > 4)]));
        assert!(matches!(read(Position(1), 1 << 20, trimmed), Err(LogError::Trimmed { .. })));
        assert_eq!(read(Position(5), 1, trimmed).unwrap().len(), 1);
    }
}
