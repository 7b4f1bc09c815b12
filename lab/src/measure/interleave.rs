//! The order of the rounds: every subject once in each round, in an order that is drawn anew for each. If the machine
//! slows down, warms up or has other work, that affects all of them alike.

use crate::data::Random;

/// For each round the indexes of the subjects, in their order.
pub fn schedule(subjects: usize, rounds: usize, random: &mut Random) -> Vec<Vec<usize>> {
    (0..rounds)
        .map(|_| {
            let mut order: Vec<usize> = (0..subjects).collect();
            random.shuffle(&mut order);
            order
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_round_has_every_subject_once_and_orders_differ() {
        let rounds = schedule(7, 20, &mut Random::new(1));
        assert_eq!(rounds.len(), 20);
        for round in &rounds {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..7).collect::<Vec<_>>());
        }
        assert!(rounds.iter().collect::<HashSet<_>>().len() > 15, "orders repeat");
        let first: HashSet<usize> = rounds.iter().map(|round| round[0]).collect();
        assert!(first.len() > 4, "the same subjects always begin: {first:?}");
    }

    #[test]
    fn one_seed_gives_one_order() {
        assert_eq!(schedule(5, 9, &mut Random::new(3)), schedule(5, 9, &mut Random::new(3)));
    }
}
