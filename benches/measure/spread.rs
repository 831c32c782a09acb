//! The middle of many measurements, and how far they lie apart.

/// The quartiles.
#[derive(Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    pub(crate) fn of(measurements: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<_> = measurements.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let quarter = |quarters: usize| sorted[(sorted.len() - 1) * quarters / 4];
        Self { low: quarter(1), median: quarter(2), high: quarter(3) }
    }
}
