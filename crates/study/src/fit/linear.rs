//! Small symmetric systems: normal equations of a fit have at most some twenty unknowns.

/// A square matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    n: usize,
    cells: Vec<f64>,
}

impl Matrix {
    pub fn zero(n: usize) -> Matrix {
        Matrix { n, cells: vec![0.0; n * n] }
    }

    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.n + column]
    }

    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        self.cells[row * self.n + column] += value;
    }

    /// The lower triangle L with L Lᵀ = self; `None` where self is not positive definite.
    fn cholesky(&self) -> Option<Matrix> {
        let n = self.n;
        let mut lower = Matrix::zero(n);
        for i in 0..n {
            for j in 0..=i {
                let sum: f64 = (0..j).map(|k| lower.at(i, k) * lower.at(j, k)).sum();
                let rest = self.at(i, j) - sum;
                if i == j {
                    // Not finite, zero and below zero alike.
                    if !(rest > 0.0 && rest.is_finite()) {
                        return None;
                    }
                    lower.add(i, i, rest.sqrt());
                } else {
                    lower.add(i, j, rest / lower.at(j, j));
                }
            }
        }
        Some(lower)
    }

    /// x with self x = b; `None` where self is not positive definite.
    pub fn solve(&self, b: &[f64]) -> Option<Vec<f64>> {
        let n = self.n;
        let lower = self.cholesky()?;
        let mut x = b.to_vec();
        for i in 0..n {
            let sum: f64 = (0..i).map(|k| lower.at(i, k) * x[k]).sum();
            x[i] = (x[i] - sum) / lower.at(i, i);
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|k| lower.at(k, i) * x[k]).sum();
            x[i] = (x[i] - sum) / lower.at(i, i);
        }
        Some(x)
    }

    /// The inverse's diagonal.
    pub fn inverse_diagonal(&self) -> Option<Vec<f64>> {
        (0..self.n)
            .map(|i| {
                let mut unit = vec![0.0; self.n];
                unit[i] = 1.0;
                self.solve(&unit).map(|x| x[i])
            })
            .collect()
    }
}

/// Jᵀ W J and Jᵀ W r of a Jacobian given by columns.
pub(crate) fn normal_equations(columns: &[Vec<f64>], weights: &[f64], residuals: &[f64]) -> (Matrix, Vec<f64>) {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).zip(weights).map(|((a, b), w)| a * b * w).sum::<f64>();
    let mut matrix = Matrix::zero(columns.len());
    for i in 0..columns.len() {
        for j in 0..=i {
            let value = dot(&columns[i], &columns[j]);
            matrix.add(i, j, value);
            if i != j {
                matrix.add(j, i, value);
            }
        }
    }
    (matrix, columns.iter().map(|column| dot(column, residuals)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_through_points_that_lie_on_it() {
        let xs: Vec<f64> = (0..7).map(f64::from).collect();
        let columns = [vec![1.0; 7], xs.clone()];
        let values: Vec<f64> = xs.iter().map(|x| 3.0 - 2.0 * x).collect();
        let (matrix, right) = normal_equations(&columns, &[0.5; 7], &values);
        let found = matrix.solve(&right).unwrap();
        assert!((found[0] - 3.0).abs() < 1e-12 && (found[1] + 2.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn the_inverse_times_the_matrix_is_one() {
        let mut matrix = Matrix::zero(2);
        for (i, j, value) in [(0, 0, 4.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)] {
            matrix.add(i, j, value);
        }
        let diagonal = matrix.inverse_diagonal().unwrap();
        assert!((diagonal[0] - 3.0 / 11.0).abs() < 1e-12 && (diagonal[1] - 4.0 / 11.0).abs() < 1e-12);
        assert_eq!(Matrix::zero(2).solve(&[1.0, 1.0]), None);
    }
}
