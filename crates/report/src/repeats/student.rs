//! Quantiles of Student's t distribution, for any number of degrees of freedom above 0.

/// The `t` that a value of the distribution exceeds in either direction with the probability `1 - confidence`.
pub fn two_sided(confidence: f64, freedom: f64) -> f64 {
    let outside = 1.0 - confidence;
    let (mut low, mut high) = (0.0, 1.0);
    while beyond(high, freedom) > outside && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let mid = 0.5 * (low + high);
        if beyond(mid, freedom) > outside {
            low = mid;
        } else {
            high = mid;
        }
    }
    0.5 * (low + high)
}

/// The probability that a value lies beyond `t` in either direction.
fn beyond(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + t * t), 0.5 * freedom, 0.5)
}

/// The regularised incomplete beta function, by its continued fraction (Lentz's method).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    // The fraction converges quickly on one side of the mean only; the other follows by symmetry.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut product = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for step in [even, odd] {
            d = 1.0 / away(1.0 + step * d);
            c = away(1.0 + step / c);
            product *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    product
}

/// The logarithm of the gamma function above 0 (Lanczos' approximation, g = 7, nine terms).
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return (std::f64::consts::PI / (std::f64::consts::PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let t = x + 7.5;
    let sum = TERMS[0] + TERMS[1..].iter().zip(1..).map(|(term, i)| term / (x + f64::from(i))).sum::<f64>();
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table that every textbook has.
    #[test]
    fn quantiles_are_those_of_the_printed_table() {
        for (freedom, confidence, printed) in [
            (1.0, 0.95, 12.706),
            (2.0, 0.95, 4.303),
            (3.0, 0.95, 3.182),
            (4.0, 0.95, 2.776),
            (5.0, 0.95, 2.571),
            (10.0, 0.95, 2.228),
            (30.0, 0.95, 2.042),
            (120.0, 0.95, 1.980),
            (1e6, 0.95, 1.960),
            (1.0, 0.99, 63.657),
            (5.0, 0.99, 4.032),
            (10.0, 0.90, 1.812),
        ] {
            let t = two_sided(confidence, freedom);
            assert!((t - printed).abs() < 6e-4, "{freedom} at {confidence}: {t}, printed {printed}");
        }
    }

    /// With one and two degrees of freedom the distribution has closed forms.
    #[test]
    fn quantiles_are_those_of_the_closed_forms() {
        for confidence in [0.5, 0.9, 0.95, 0.999] {
            let of_one = (std::f64::consts::FRAC_PI_2 * confidence).tan();
            let of_two = confidence * (2.0 / (1.0 - confidence * confidence)).sqrt();
            assert!((two_sided(confidence, 1.0) / of_one - 1.0).abs() < 1e-9, "{confidence}");
            assert!((two_sided(confidence, 2.0) / of_two - 1.0).abs() < 1e-9, "{confidence}");
        }
    }
}
