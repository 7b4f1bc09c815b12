//! Medians, intervals and ratios. Pure: numbers in, numbers out, and resampling from a fixed seed, so that a
//! report can be computed again from its samples.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::data::Random;

/// Resamples of a bootstrap.
const RESAMPLES: usize = 2000;
/// The greatest latency that is told apart: 60 seconds.
const LATENCY_MAX_NS: u64 = 60_000_000_000;

/// A median with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// The median.
    pub median: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The mean.
    pub mean: f64,
    /// How many samples.
    pub n: usize,
}

/// The median; 0 of nothing.
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.get(middle), middle.checked_sub(1).and_then(|below| sorted.get(below))) {
        (Some(high), Some(low)) if sorted.len().is_multiple_of(2) => f64::midpoint(*low, *high),
        (Some(middle), _) => *middle,
        (None, _) => 0.0,
    }
}

/// The median and its percentile bootstrap interval; `None` of nothing.
pub fn summary(samples: &[f64]) -> Option<Summary> {
    if samples.is_empty() {
        return None;
    }
    let (low, high) = bootstrap(samples.len(), |drawn| {
        let resample: Vec<f64> = drawn.iter().filter_map(|&at| samples.get(at).copied()).collect();
        median(&resample)
    });
    let n = samples.len();
    Some(Summary { median: median(samples), low, high, mean: samples.iter().sum::<f64>() / as_f64(n), n })
}

/// The result of several sittings, each with its own processes and stores: the median of their medians. From six
/// sittings on, its interval comes from order statistics. These assume only that sittings are independent, however they
/// are distributed. The median of all possible sittings lies between the j-th least and the j-th greatest of n with the
/// probability `1 - 2 P(X < j)`, where X is binomial with n and a half. j is the greatest number for which that is 95 %
/// (1 for 6 to 8, 2 for 9). With fewer sittings no two of them promise 95 %: the interval then spans all the sittings'
/// own.
pub fn sittings(found: &[Summary]) -> Option<Summary> {
    let n = found.iter().map(|sitting| sitting.n).sum();
    let mut medians: Vec<f64> = found.iter().map(|sitting| sitting.median).collect();
    let middle = median(&medians);
    medians.sort_by(f64::total_cmp);
    let (low, high) = match within_95(medians.len()) {
        Some(skipped) => (*medians.get(skipped)?, *medians.iter().rev().nth(skipped)?),
        None => found.iter().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), sitting| {
            (low.min(sitting.low), high.max(sitting.high))
        }),
    };
    let mean = found.iter().map(|sitting| sitting.mean * as_f64(sitting.n)).sum::<f64>() / as_f64(n);
    (n > 0).then_some(Summary { median: middle, low, high, mean, n })
}

/// The number of the least samples, and of the greatest, that the interval of a median may leave out.
fn within_95(n: usize) -> Option<usize> {
    // P(X = k) of k from 0 on; both tails together are to be 5 % at most.
    let mut probability = 0.5_f64.powi(i32::try_from(n).ok()?);
    let (mut tail, mut left_out) = (0.0, 0);
    while left_out <= n {
        tail += probability;
        if 2.0 * tail > 0.05 {
            break;
        }
        probability *= as_f64(n - left_out) / as_f64(left_out + 1);
        left_out += 1;
    }
    left_out.checked_sub(1)
}

/// The ratio of `ours` to `theirs`: round by round if both were measured in the same rounds.
pub fn ratio(ours: &[f64], theirs: &[f64]) -> Option<Summary> {
    let pairs: Vec<f64> =
        ours.iter().zip(theirs).filter(|(_, theirs)| **theirs > 0.0).map(|(ours, theirs)| ours / theirs).collect();
    summary(&pairs)
}

/// The same of the rounds of several sittings.
pub fn ratio_of_sittings<'s>(
    ours: impl Iterator<Item = &'s [f64]>,
    theirs: impl Iterator<Item = &'s [f64]>,
) -> Option<Summary> {
    sittings(&ours.zip(theirs).filter_map(|(ours, theirs)| ratio(ours, theirs)).collect::<Vec<_>>())
}

/// A quantile of latencies that were taken in rounds, with an interval over the rounds. Memory does not grow
/// with their number.
pub fn quantile_of_rounds(rounds: &[Vec<u64>], quantile: f64) -> Option<Summary> {
    let histograms: Vec<Histogram<u64>> =
        rounds.iter().filter(|round| !round.is_empty()).map(|r| histogram(r)).collect();
    if histograms.is_empty() {
        return None;
    }
    let mut all = empty_histogram();
    for histogram in &histograms {
        // Both have the same bounds, which is all that could be wrong.
        let _ = all.add(histogram);
    }
    // A resample counts what was recorded, and not every value that could have been.
    let values: Vec<u64> = all.iter_recorded().map(|recorded| recorded.value_iterated_to()).collect();
    let counts: Vec<Vec<u64>> =
        histograms.iter().map(|round| values.iter().map(|&value| round.count_at(value)).collect()).collect();
    let of = |drawn: &[usize]| {
        let drawn: Vec<&[u64]> = drawn.iter().filter_map(|&at| counts.get(at).map(Vec::as_slice)).collect();
        let total: u64 = drawn.iter().flat_map(|counts| counts.iter()).sum();
        let wanted = as_index((quantile * as_f64(total as usize)).ceil()).max(1) as u64;
        let mut passed = 0;
        let reached = values.iter().enumerate().find(|(at, _)| {
            passed += drawn.iter().filter_map(|counts| counts.get(*at)).sum::<u64>();
            passed >= wanted
        });
        reached.map_or_else(|| all.max(), |(_, value)| *value)
    };
    let (median, mean, n) = (all.value_at_quantile(quantile), all.mean(), all.len());
    let (low, high) = bootstrap(histograms.len(), |drawn| as_f64(of(drawn) as usize));
    Some(Summary { median: as_f64(median as usize), low, high, mean, n: n as usize })
}

/// Latencies of many operations; its size does not grow with their number.
#[derive(Clone, Debug)]
pub struct Latencies(Histogram<u64>);

impl Latencies {
    /// Those of rounds.
    pub fn of(rounds: &[Vec<u64>]) -> Option<Self> {
        let mut all = empty_histogram();
        for latency in rounds.iter().flatten() {
            all.saturating_record(*latency);
        }
        (!all.is_empty()).then_some(Latencies(all))
    }

    /// Adds those of another.
    pub fn add(&mut self, other: &Self) {
        // Both have the same bounds, which is all that could be wrong.
        let _ = self.0.add(&other.0);
    }

    /// The quantiles.
    pub fn quantiles(&self) -> Quantiles {
        let at = |quantile| self.0.value_at_quantile(quantile);
        Quantiles { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: self.0.max() }
    }
}

/// Quantiles of latencies, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Quantiles {
    /// The median.
    pub p50: u64,
    /// 90 %.
    pub p90: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p999: u64,
    /// The longest.
    pub max: u64,
}

fn empty_histogram() -> Histogram<u64> {
    // Three digits, bounds that are constant and valid.
    Histogram::new_with_bounds(1, LATENCY_MAX_NS, 3).unwrap_or_else(|_| unreachable!("constant bounds"))
}

fn histogram(latencies: &[u64]) -> Histogram<u64> {
    let mut histogram = empty_histogram();
    for &latency in latencies {
        histogram.saturating_record(latency);
    }
    histogram
}

/// The 2.5 % and 97.5 % quantiles of a statistic over resamples of `n` indexes.
fn bootstrap(n: usize, statistic: impl Fn(&[usize]) -> f64) -> (f64, f64) {
    let mut random = Random::new(0xb007);
    let resamples = if n > 1 { RESAMPLES } else { 1 };
    let mut found: Vec<f64> = (0..resamples)
        .map(|_| {
            let drawn: Vec<usize> = (0..n).map(|_| random.below(n as u64) as usize).collect();
            statistic(&drawn)
        })
        .collect();
    found.sort_by(f64::total_cmp);
    let at = |quantile: f64| {
        let index = (quantile * as_f64(found.len().saturating_sub(1))).round();
        found.get(as_index(index)).copied().unwrap_or_default()
    };
    (at(0.025), at(0.975))
}

/// A count as a number to compute with.
#[allow(clippy::cast_precision_loss)] // counts and nanoseconds; exact up to 2^53
pub fn as_f64(count: usize) -> f64 {
    count as f64
}

#[allow(clippy::cast_sign_loss)] // a quantile of a length
fn as_index(index: f64) -> usize {
    index as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn medians_of_odd_and_even_counts() {
        for (samples, expected) in
            [(vec![3.0], 3.0), (vec![4.0, 2.0], 3.0), (vec![9.0, 1.0, 2.0], 2.0), (vec![1.0, 8.0, 2.0, 4.0], 3.0)]
        {
            assert!((median(&samples) - expected).abs() < 1e-12, "{samples:?}");
        }
        assert_eq!(summary(&[]), None);
    }

    #[test]
    fn the_interval_narrows_with_more_samples_and_widens_with_spread() {
        let around = |n: usize, spread: f64| {
            let mut random = Random::new(5);
            let samples: Vec<f64> =
                (0..n).map(|_| 100.0 + spread * (as_f64(random.below(1000) as usize) / 1000.0 - 0.5)).collect();
            let summary = summary(&samples).unwrap();
            summary.high - summary.low
        };
        assert!(around(200, 10.0) < around(10, 10.0));
        assert!(around(50, 2.0) < around(50, 40.0));
        assert!(around(50, 0.0) < 1e-9);
    }

    #[test]
    fn a_ratio_is_taken_round_by_round() {
        // The machine slows down tenfold half way; the ratio of each round is 2.
        let theirs = [1.0, 1.0, 10.0, 10.0];
        let ours = [2.0, 2.0, 20.0, 20.0];
        let ratio = ratio(&ours, &theirs).unwrap();
        assert!((ratio.median - 2.0).abs() < 1e-9 && (ratio.high - ratio.low).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn from_six_sittings_on_an_interval_leaves_out_what_chance_allows() {
        for (n, expected) in
            [(0, None), (1, None), (5, None), (6, Some(0)), (8, Some(0)), (9, Some(1)), (12, Some(2)), (20, Some(5))]
        {
            assert_eq!(within_95(n), expected, "{n}");
        }
        let at = |median: f64| Summary { median, low: median - 1.0, high: median + 1.0, mean: median, n: 3 };
        let of = |medians: &[f64]| sittings(&medians.iter().copied().map(at).collect::<Vec<_>>()).unwrap();
        assert_eq!(sittings(&[]), None);
        assert_eq!(of(&[7.0]), at(7.0), "one sitting is what it was");
        assert_eq!((of(&[7.0, 9.0]).low, of(&[7.0, 9.0]).median, of(&[7.0, 9.0]).high), (6.0, 8.0, 10.0));
        let six = of(&[6.0, 1.0, 5.0, 2.0, 4.0, 3.0]);
        assert_eq!((six.low, six.median, six.high, six.n), (1.0, 3.5, 6.0, 18));
    }

    #[test]
    fn the_intervals_of_sittings_hold_what_they_promise() {
        // Each sitting has a level of its own (skewed: a few are far slower) and rounds that differ little within it.
        let mut random = Random::new(11);
        let mut level = || {
            let drawn = as_f64(random.below(1_000_000) as usize) / 1e6;
            (100.0 + 20.0 * drawn.powi(4), drawn)
        };
        let truth = 100.0 + 20.0 * 0.5_f64.powi(4);
        for n in [6, 7, 9] {
            let runs = 2_000;
            let held = (0..runs).filter(|_| {
                let found: Vec<Summary> = (0..n)
                    .map(|_| {
                        let (median, jitter) = level();
                        Summary { median, low: median - jitter, high: median + jitter, mean: median, n: 3 }
                    })
                    .collect();
                let run = sittings(&found).unwrap();
                run.low <= truth && truth <= run.high
            });
            let share = as_f64(held.count()) / as_f64(runs);
            assert!((0.94..0.995).contains(&share), "{n} sittings: {share}");
        }
    }

    #[test]
    fn a_stall_in_one_of_a_thousand_is_the_999th_permille() {
        let mut quiet = vec![1_000; 2_000];
        let p999 = |rounds: &[Vec<u64>]| quantile_of_rounds(rounds, 0.999).unwrap();
        assert!(p999(&[quiet.clone(), quiet.clone()]).median < 1_010.0);
        for latency in quiet.iter_mut().take(5) {
            *latency = 50_000_000;
        }
        let found = p999(&[quiet.clone(), quiet]);
        assert!((found.median / 50_000_000.0 - 1.0).abs() < 0.002, "{found:?}");
        assert_eq!(found.n, 4_000);
        assert_eq!(quantile_of_rounds(&[vec![]], 0.5), None);
    }

    proptest! {
        #[test]
        fn the_median_lies_in_its_interval_and_among_the_samples(samples in prop::collection::vec(0.1f64..1e9, 1..40)) {
            let found = summary(&samples).unwrap();
            let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
            let most = samples.iter().copied().fold(0.0, f64::max);
            prop_assert!(least <= found.low && found.low <= found.high && found.high <= most);
            prop_assert!(least <= found.median && found.median <= most);
        }
    }
}
