//! Tables of the SLOB method.

use super::SlobConfig;
use crate::clients::execute;
use crate::{Cluster, DatabaseError};
use target::Progress;

/// Copies of 32 bytes in a row: with its head it takes 3,948 bytes, so two versions fit a block and three don't.
const PAD_REPEATS: u32 = 122;

/// Makes and fills the tables of so many sessions; the server runs with the settings of loading.
pub(crate) fn load(
    cluster: &Cluster,
    slob: &SlobConfig,
    sessions: u32,
    progress: &dyn Progress,
) -> Result<(), DatabaseError> {
    let mut client = cluster.connect()?;
    let tables = slob.tables(sessions);
    progress.begin("load SLOB's tables", tables.into());
    for table in 1..=tables {
        // In one transaction with its making, a table's rows need not be logged. Rows lie in an order of their own.
        let sql = format!(
            "BEGIN; \
             CREATE TABLE slob_{table} (id bigint NOT NULL, c bigint NOT NULL, pad text NOT NULL) \
                 WITH (fillfactor = 50); \
             ALTER TABLE slob_{table} ALTER COLUMN pad SET STORAGE PLAIN; \
             INSERT INTO slob_{table} SELECT id, 0, repeat(md5(id::text), {PAD_REPEATS}) \
                 FROM generate_series(1, {}) AS id ORDER BY hashint8extended(id, {table}); \
             ALTER TABLE slob_{table} ADD PRIMARY KEY (id); \
             COMMIT",
            slob.scale_blocks
        );
        execute(&mut client, "loading SLOB's tables", &sql, progress)?;
        execute(&mut client, "vacuuming", &format!("VACUUM (FREEZE, ANALYZE) slob_{table}"), progress)?;
        progress.at(table.into());
    }
    Ok(())
}

/// Makes room again.
pub(crate) fn drop_tables(cluster: &Cluster, slob: &SlobConfig, sessions: u32) -> Result<(), DatabaseError> {
    let mut client = cluster.connect()?;
    for table in 1..=slob.tables(sessions) {
        client.batch_execute(&format!("DROP TABLE slob_{table}")).map_err(DatabaseError::sql("dropping tables"))?;
    }
    client.batch_execute("CHECKPOINT").map_err(DatabaseError::sql("dropping tables"))
}
