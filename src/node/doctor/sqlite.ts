/** The checks of a SQLite file. It is only read, also while Workron runs on it. */

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { byteText } from '../../api/byte-text.ts';
import { messageOf } from '../../core/error.ts';
import type { WorkerRow } from '../../core/worker.ts';
import { Database } from '../../store/sqlite/base/database.ts';
import { installedVersion } from '../../store/sqlite/base/migrate.ts';
import { MIGRATIONS } from '../../store/sqlite/base/migrations.ts';
import { promotionMark, unmarkAdvice } from '../../store/sqlite/base/promotion-mark.ts';
import { bad, type Finding, ok, warning } from './finding.ts';
import { examineServed, SILENT_LEASES, type WaitingLane } from './served.ts';

const LARGE_LOG_BYTES = 256 * 1024 * 1024;

export function examineSqlite(file: string): Finding[] {
  if (!existsSync(file)) return [ok('store', `${file} is not there yet; \`workron up\` creates it`)];
  const findings = [permissions(file)];
  try {
    using database = new Database(file, { readOnly: true });
    findings.push(schema(database, file), writeAheadLog(file));
    const mark = promotionMark(database);
    if (mark !== undefined) {
      findings.push(
        bad(
          'promoted',
          `${file} was promoted to ${mark.to}; Workron does not start on it`,
          `start it with that --db-url; if nothing runs there, ${unmarkAdvice(file)}`,
        ),
      );
    }
    const lanes = database.all<WaitingLane>(
      `select n.key, count(*) as jobs from live l join lane n on n.id = l.lane where l.status = 'pending' group by n.key`,
    );
    const workers = database.all<{ profile: string }>(
      `select profile from worker where state = 'online' and seen_at > ? - ${SILENT_LEASES} * lease_ms`,
      Date.now(),
    );
    findings.push(
      ...examineServed(
        lanes,
        workers.map(({ profile }) => JSON.parse(profile) as WorkerRow),
      ),
    );
  } catch (error) {
    findings.push(bad('store', messageOf(error), 'restore it from a backup, or name another file by --db-url'));
  }
  return findings;
}

function permissions(file: string): Finding {
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
    accessSync(dirname(file), constants.W_OK);
  } catch (error) {
    return bad('permissions', messageOf(error), `let this user write ${file} and its folder`);
  }
  const open = statSync(file).mode & 0o077;
  if (open === 0) return ok('permissions', `${file} is private to its user`);
  return warning('permissions', `${file} can be read by other users`, `chmod 600 ${file}`);
}

function schema(database: Database, file: string): Finding {
  const [version, newest] = [installedVersion(database, file), MIGRATIONS.at(-1)?.version ?? 0];
  if (version === newest) return ok('schema', `version ${version}`);
  return warning('schema', `version ${version}, this code has ${newest}`, 'run `workron migrate`, or start Workron');
}

function writeAheadLog(file: string): Finding {
  const bytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes < LARGE_LOG_BYTES) return ok('write-ahead log', byteText(bytes));
  return warning(
    'write-ahead log',
    byteText(bytes),
    'a reader keeps it from being cut: end tools that hold the file open',
  );
}
