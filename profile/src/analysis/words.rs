//! Times, shares and numbers as text in a sentence.

/// Nanoseconds with a unit that fits and three digits: `4.05 s`, `12.3 ms`.
pub(crate) fn time(ns: u64) -> String {
    // A number that would be rounded up to 1000 takes the next unit.
    let (scale, unit) = match ns {
        0 => return "0 s".to_owned(),
        1..1_000 => return format!("{ns} ns"),
        1_000..999_500 => (1e3, "us"),
        999_500..999_500_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let value = ns as f64 / scale;
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// As `time`, of picoseconds, with a digit below the nanosecond for what takes a few.
pub(crate) fn short_time(ps: u64) -> String {
    match ps {
        1..10_000 => format!("{:.1} ns", (ps as f64 / 1000.0).max(0.1)),
        _ => time(ps / 1000),
    }
}

/// A percentage with useful precision: `38 %`, `3.4 %`, `<0.1 %`.
pub(crate) fn percent(percent: f64) -> String {
    match percent {
        0.0 => "0 %".to_owned(),
        ..0.1 => "<0.1 %".to_owned(),
        ..9.95 => format!("{percent:.1} %"),
        // A share below 100 % is not shown as 100 %.
        99.5..100.0 => format!("{:.1} %", percent.min(99.9)),
        _ => format!("{percent:.0} %"),
    }
}

/// A number with its noun: `1 thread`, `4 threads`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// `8 threads shared 4 processors`.
pub(crate) fn shared(threads: u64, processors: u64) -> String {
    format!(
        "{} shared {}",
        count(threads, "thread"),
        count(processors, "processor")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_below_a_nanosecond_are_not_0() {
        let texts = [0, 30, 450, 9_960, 12_400].map(short_time);
        assert_eq!(texts, ["0 s", "0.1 ns", "0.5 ns", "10.0 ns", "12 ns"]);
    }

    #[test]
    fn times_have_three_digits_and_a_unit_that_fits() {
        let shown: Vec<String> = [
            0,
            7,
            999,
            1_000,
            999_499,
            999_500,
            45_678_000,
            4_050_000_000,
            123_456_000_000,
        ]
        .into_iter()
        .map(time)
        .collect();
        assert_eq!(
            shown,
            [
                "0 s", "7 ns", "999 ns", "1.00 us", "999 us", "1.00 ms", "45.7 ms", "4.05 s",
                "123 s"
            ]
        );
    }

    #[test]
    fn percentages_are_as_exact_as_matters() {
        let shown: Vec<String> = [0.0, 0.01, 0.1, 3.44, 38.2, 99.99, 100.0]
            .into_iter()
            .map(percent)
            .collect();
        assert_eq!(
            shown,
            ["0 %", "<0.1 %", "0.1 %", "3.4 %", "38 %", "99.9 %", "100 %"]
        );
    }
}
