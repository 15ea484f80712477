import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { countText } from '../../api/count-text.ts';
import { chooseStore } from '../../ops/settings/store.ts';
import { print } from '../client-command.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { EXIT } from '../errors/exit-code.ts';

interface PromoteFlags {
  dbSchema: string;
  dryRun?: boolean;
  undo?: boolean;
}

/** `workron promote sqlite:./workron.db postgres://…`: moves a stopped installation. */
export function promoteCommand(): Command {
  return new Command('promote')
    .description('Move a stopped installation from a SQLite file to PostgreSQL')
    .argument('<from>', 'The file: sqlite:./workron.db')
    .argument('<to>', 'The database: postgres://user:password@host/database')
    .option('--db-schema <NAME>', 'The schema in the database', 'workron')
    .option('--dry-run', 'Check everything and count; write nothing')
    .option('--undo', 'Drop what an earlier run has moved, if it has not ended')
    .action(async (from: string, to: string, { dbSchema: schema, dryRun, undo }: PromoteFlags) => {
      const [source, target] = [chooseStore(from, null), chooseStore(to, null)];
      if (source.driver !== 'sqlite') throw usageError(`${from} is not a SQLite file`, 'sqlite:./workron.db');
      if (target.driver !== 'postgres') throw usageError(`${to} is not a PostgreSQL database`, 'postgres://…');
      if (!undo && !existsSync(source.file)) {
        throw new CliError(EXIT.notFound, `there is no store at ${source.file}`, { hint: 'sqlite:FILE' });
      }
      const promotion = await import('../../node/promote/promote.ts');
      const options = { file: source.file, url: target.url, schema, tell: print };
      if (undo) {
        await promotion.undo(options);
        return print(`schema ${schema} was dropped; ${source.file} is as it was`);
      }
      if (dryRun) return promotion.rehearse(options);
      const rows = await promotion.promote(options);
      print(
        `${countText(rows, 'row is', 'rows are')} in PostgreSQL. Start it with the same port: workron up --db-url ${target.url.replace(/:[^:@/]*@/, ':…@')}`,
      );
      print(`${source.file} is as it was, but for a mark: Workron does not start on it again.`);
    });
}
