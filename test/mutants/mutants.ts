/** The faults that `npm run mutants` plants: each is a mistake that a job scheduler has made somewhere. */

export interface Edit {
  file: string;
  /** Occurs exactly once in `file`. */
  from: string;
  to: string;
}

export interface Mutant {
  /** The fault, as a sentence about the faulty program. */
  name: string;
  edits: Edit[];
  /** Test files of which at least one test must fail. */
  tests: string[];
}

/** Replaces `from` by `to` in the text of a file. Throws if the fault can no longer be planted. */
export function plantIn(text: string, { file, from, to }: Edit): string {
  const count = text.split(from).length - 1;
  if (count !== 1) throw new Error(`${file}: expected the text to replace once, found it ${count} times: ${from}`);
  return text.replace(from, () => to);
}

export const MUTANTS: Mutant[] = [
  {
    name: 'a method of the engine waits for a turn of the event loop',
    edits: [
      {
        file: 'src/store/engine/queues.ts',
        from: '  if (deleted > 0) tx.effects.changedQueue();\n',
        to: '  if (deleted > 0) tx.effects.changedQueue();\n  await new Promise(setImmediate);\n',
      },
    ],
    tests: ['test/store/memory/in-process.test.ts'],
  },
  {
    name: 'a timer is in a file of the engine',
    edits: [
      {
        file: 'src/store/engine/queues.ts',
        from: '  if (deleted > 0) tx.effects.changedQueue();\n',
        to: '  if (deleted > 0) setTimeout(() => tx.effects.changedQueue(), 0);\n',
      },
    ],
    tests: ['test/architecture.test.ts'],
  },
  {
    name: 'a kind of rows that cannot be deleted ends the round of the pruner',
    edits: [
      {
        file: 'src/scheduler/duties/pruner.ts',
        from: 'signal.throwIfAborted();',
        to: 'if (error !== undefined) throw error;',
      },
    ],
    tests: ['test/scheduler/pruner.test.ts'],
  },
  {
    name: 'expired idempotency keys are found by reading all keys',
    edits: [
      {
        file: 'src/store/engine/sweep.ts',
        from: 'where created_at <= ',
        to: "where created_at + interval '0' <= ",
      },
    ],
    tests: ['test/store/postgres/prune.test.ts'],
  },
  {
    name: 'all expired unique keys are deleted by one statement',
    edits: [
      {
        file: 'src/store/engine/sweep.ts',
        from: 'order by expires_at ${first}',
        to: 'order by expires_at',
      },
    ],
    tests: ['test/scheduler/pruner.test.ts'],
  },
  {
    name: 'a statement of the store starts parallel workers of PostgreSQL',
    edits: [
      {
        file: 'src/store/postgres/base/database.ts',
        from: 'set max_parallel_workers_per_gather = 0;',
        to: '',
      },
    ],
    tests: ['test/store/postgres/plans.test.ts'],
  },
  {
    name: 'a statement of a leader whose rows are counted escapes its fence',
    edits: [
      {
        file: 'src/store/postgres/base/database.ts',
        from: 'write: (statement, values) =>\n        this.isFenced\n',
        to: 'write: (statement, values) =>\n        this.isFenced && isWrite({ text: "" })\n',
      },
    ],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'all scheduled jobs are compared with the time when some become due',
    edits: [
      {
        file: 'src/store/engine/duties.ts',
        from: "from live where ${listed} = 'scheduled' and due <= ${now}",
        to: "from live cross join clock where ${listed} = 'scheduled' and due <= clock.now and ${now} is not null",
      },
    ],
    tests: ['test/store/postgres/plans.test.ts'],
  },
  {
    name: 'status is well while jobs wait and no worker is online',
    edits: [{ file: 'src/cli/commands/status.ts', from: "...told('red')", to: '' }],
    tests: ['test/cli/operate.test.ts'],
  },
  {
    name: 'a result is shown in the clear once its secret is deleted',
    edits: [{ file: 'src/scheduler/secrets/secrets.ts', from: 'known.length < own.length ? MASK : ', to: '' }],
    tests: ['test/process/secret-jobs.test.ts'],
  },
  {
    name: 'an error quotes a line that is cut before its secrets are masked',
    edits: [{ file: 'src/worker/command/result-file.ts', from: 'quoted(mask(first))', to: 'mask(quoted(first))' }],
    tests: ['test/worker/masking.test.ts'],
  },
  {
    name: 'what a handler throws is cut before its secrets are masked',
    edits: [
      { file: 'src/worker/run/thrown.ts', from: 'MAX_READ_LENGTH = 256 * 1024', to: 'MAX_READ_LENGTH = 8 * 1024' },
    ],
    tests: ['test/worker/masking.test.ts'],
  },
  {
    name: 'a secret is masked although a longer one may go on in the next chunk',
    edits: [
      {
        file: 'src/core/mask.ts',
        from: 'this.#release(this.#arrived - values.beginningOf(node).length,',
        to: 'this.#release(values.lengthAt(node) > 0 ? this.#arrived : this.#arrived - values.beginningOf(node).length,',
      },
    ],
    tests: ['test/core/mask.test.ts'],
  },
  {
    name: 'each alias of a file searches all of its anchors',
    edits: [
      {
        file: 'src/api/workflow/source.ts',
        from: 'for (const [alias, target] of this.#targets) resolveTo(alias as Alias, target);',
        to: '',
      },
    ],
    tests: ['test/growth/growth.test.ts'],
  },
  {
    name: 'a number of many digits as a parameter is read again from each of them',
    edits: [{ file: 'src/api/workflow/params.ts', from: '(\\d+(\\.\\d*)?|', to: '(\\d+\\.?\\d*|' }],
    tests: ['test/growth/growth.test.ts'],
  },
  {
    name: 'texts in env are stored in the clear although there is a key',
    edits: [
      {
        file: 'src/scheduler/secrets/sealing.ts',
        from: 'return { env: this.#sealEnv(), input:',
        to: 'return { env: withoutKey.env, input:',
      },
    ],
    tests: ['test/http/sealed-env.test.ts'],
  },
  {
    name: 'an input that is to be sealed is stored in the clear',
    edits: [
      {
        file: 'src/scheduler/secrets/sealing.ts',
        from: 'input: null, sealedInput: seal.input(job.input) }',
        to: 'sealedInput: seal.input(job.input) }',
      },
    ],
    tests: ['test/http/sealed-input.test.ts'],
  },
  {
    name: 'a sealed input is opened as if it were a variable',
    edits: [
      {
        file: 'src/scheduler/secrets/sealing.ts',
        from: "const INPUT = 'input';",
        to: "const INPUT = 'env A';",
      },
    ],
    tests: ['test/http/sealed-input.test.ts'],
  },
  {
    name: 'a queue with unfinished jobs can be deleted',
    edits: [
      {
        file: 'src/store/engine/queues.ts',
        from: 'where name = ${name} and ${isGone}`',
        to: 'where name = ${name}`',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'the history of a job shows claims that were given back as started',
    edits: [{ file: 'src/core/history.ts', from: "if (attempt.outcome !== 'returned') {", to: '{' }],
    tests: ['test/http/history.test.ts', 'test/core/history.test.ts'],
  },
  {
    name: 'the history of a job does not say that it was asked to stop',
    edits: [
      { file: 'src/core/history.ts', from: 'if (job.cancelRequestedAt !== null) {', to: 'if (job.attempt < 0) {' },
    ],
    tests: ['test/http/history.test.ts'],
  },
  {
    name: 'a process whose duties have died goes on',
    edits: [{ file: 'src/cli/serve.ts', from: '    shutdown.begin();\n', to: '' }],
    tests: ['test/library/health.test.ts'],
  },
  {
    name: 'duties that die are told to nobody',
    edits: [{ file: 'src/library/workron.ts', from: 'this.#onError?.(', to: '((_: Error) => undefined)(' }],
    tests: ['test/library/health.test.ts'],
  },
  {
    name: 'a search for a unique key finds all jobs',
    edits: [
      {
        file: 'src/store/engine/lists.ts',
        from: '    given(filter.uniqueKey, stored.hasUniqueKey),\n',
        to: '',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a manual retry takes a unique key from the job that holds it',
    edits: [
      {
        file: 'src/store/engine/graph/reopen.ts',
        from: '  if (conflict !== undefined) throw keyHeldByOther',
        to: '  if (conflict !== undefined) keyHeldByOther',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'an undrained worker claims nothing',
    edits: [{ file: 'src/worker/worker.ts', from: '} while (!this.#drain.isOn);', to: '} while (false);' }],
    tests: ['test/worker/drain.test.ts'],
  },
  {
    name: 'a worker that its process stops can be undrained',
    edits: [
      {
        file: 'src/worker/claim/drain.ts',
        from: 'if (this.#isLeaving || drain === this.isOn)',
        to: 'if (drain === this.isOn)',
      },
    ],
    tests: ['test/worker/drain.test.ts'],
  },
  {
    name: 'an offline worker that was undrained drains when it comes back',
    edits: [
      { file: 'src/store/engine/workers.ts', from: 'set profile = ${withoutDraining}', to: 'set profile = profile' },
    ],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'a command does not get its input',
    edits: [
      {
        file: 'src/worker/command/standard-input.ts',
        from: 'return `exec <${shellQuoted(file.path)}; ${command}`;',
        to: 'return command;',
      },
    ],
    tests: ['test/cli/jobs.test.ts'],
  },
  {
    name: 'a limit lets one job too many start',
    edits: [{ file: 'src/core/meter.ts', from: 'return running < max ?', to: 'return running <= max ?' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a rate counts half of its window',
    edits: [
      { file: 'src/core/meter.ts', from: '(at) => at > now - windowMs)', to: '(at) => at > now - windowMs / 2)' },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a burst allows more in the long run',
    edits: [{ file: 'src/core/meter.ts', from: 'Math.ceil((perMs * max) / limit)', to: 'perMs' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a claim that is returned unstarted keeps its token',
    edits: [
      {
        file: 'src/store/sqlite/sql/meters.ts',
        from: 'or (?2 and attempt =',
        to: 'or (?2 and false and attempt =',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'why leaves limits and rates aside',
    edits: [
      {
        file: 'src/store/sqlite/jobs/outlook.ts',
        from: 'choose(context, request, { admission,',
        to: 'choose(context, request, { admission: null,',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'why does not count what comes first against a limit (SQLite)',
    edits: [
      {
        file: 'src/store/sqlite/jobs/admission.ts',
        from: 'this.#uses.set(meter.name, withStart(',
        to: 'if (this.#looking === undefined) this.#uses.set(meter.name, withStart(',
      },
    ],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'a claim parks all jobs of a full key at once',
    edits: [{ file: 'src/core/meter.ts', from: 'MAX_PARKED = 500', to: 'MAX_PARKED = 500_000' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a less urgent job passes those behind jobs of a full key (PostgreSQL)',
    edits: [{ file: 'src/store/postgres/jobs/plan-claim.ts', from: '(!mayPassUnread && ', to: '(mayPassUnread && ' }],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'a reservation for a job that waited for a rate is not known',
    edits: [
      {
        file: 'src/store/engine/reservations.ts',
        from: 'n.id = coalesce(p.lane, l.lane)',
        to: 'n.id = l.lane',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'jobs with limits are prefetched',
    edits: [{ file: 'src/core/prefetch.ts', from: ' && !lane.metered', to: '' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'the end of a job lets none start that waits for its limit',
    edits: [
      {
        file: 'src/store/sqlite/jobs/meters.ts',
        from: 'if (names.length > 0) database.run(sql.openParkings, JSON.stringify(names));',
        to: 'void names;',
      },
    ],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'starts are pruned, and nobody wakes the jobs that wait for them',
    edits: [{ file: 'src/store/engine/sweep.ts', from: '(await openParkings(tx, limits))', to: 'limits.length' }],
    tests: ['test/store/parkings.test.ts'],
  },
  {
    name: 'a limit that a claim uses meanwhile is pruned (PostgreSQL)',
    edits: [{ file: 'src/store/engine/sweep.ts', from: ' and i.version = ${version}', to: '' }],
    tests: ['test/store/postgres/meter-races.test.ts'],
  },
  {
    name: 'jobs wait for one that a claim has chosen and not started (PostgreSQL)',
    edits: [
      {
        file: 'src/store/postgres/jobs/admission.ts',
        from: 'if (missing.length > 0) {',
        to: 'if (missing.length < 0) {',
      },
    ],
    tests: ['test/store/postgres/meter-races.test.ts'],
  },
  {
    name: 'nobody looks again at closed limits',
    edits: [{ file: 'src/scheduler/duties/promoter.ts', from: '      await heal(signal);\n', to: '' }],
    tests: ['test/scheduler/counters.test.ts'],
  },
  {
    name: 'the keys of a claim are not locked while it counts',
    edits: [
      {
        file: 'src/store/engine/meter-use.ts',
        from: 'if (windows.size > 0) await tx.lockRows(withWindows(windows));',
        to: 'void [tx, windows, withWindows];',
      },
    ],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'a retry is counted in the minute of the next attempt',
    edits: [
      {
        file: 'src/scheduler/telemetry.ts',
        from: 'change.delayMs > 0 ? after.dueAt - Math.round(change.delayMs) : this.#now()',
        to: 'after.dueAt',
      },
    ],
    tests: ['test/scheduler/counters.test.ts'],
  },
  {
    name: 'a process is ready while its disk is full',
    edits: [
      {
        file: 'src/scheduler/create-scheduler.ts',
        from: 'await store.checkWritable(',
        to: 'await store.now(',
      },
    ],
    tests: ['test/scheduler/scheduler.test.ts'],
  },
  {
    name: 'a hard link to a SQLite file is a file of its own',
    edits: [{ file: 'src/store/sqlite/base/home.ts', from: 'if (names === 1) return file;', to: 'return file;' }],
    tests: ['test/store/sqlite/names.test.ts'],
  },
  {
    name: 'the next tick is computed from now, not from the last tick',
    edits: [
      {
        file: 'src/core/schedule/plan-line.ts',
        from: 'const last = kept.at(-1)?.through ?? line.cursor;',
        to: 'const last = now;',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'changing the timing of a schedule drops its postponed ticks',
    edits: [
      {
        file: 'src/core/schedule/change-lines.ts',
        from: 'if (!changed.closes(key)) return',
        to: 'if (key === key) return',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'changing a schedule rewinds its cursor behind ticks that already have a verdict',
    edits: [
      {
        file: 'src/core/schedule/change-lines.ts',
        from: 'restart ? Math.max(at, line.cursor) : line.cursor',
        to: 'restart ? at : line.cursor',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a database with the tables of another version is used',
    edits: [
      {
        file: 'src/store/migration.ts',
        from: 'first?.fingerprint === undefined || found === first.fingerprint',
        to: 'first?.fingerprint !== found || found === first?.fingerprint',
      },
    ],
    tests: ['test/store/sqlite/file.test.ts'],
  },
  {
    name: 'the ledger accepts a second row for the same tick',
    edits: [
      {
        file: 'src/store/migrations/001_foundation.sql',
        from: 'create unique index tick_once',
        to: 'create index tick_once',
      },
    ],
    tests: ['test/store/postgres/schedules.test.ts'],
  },
  {
    name: 'fixed times are treated as wildcards when the clocks change',
    edits: [
      {
        file: 'src/core/schedule/cron.ts',
        from: `? 'wildcard' : 'fixed'`,
        to: `? 'wildcard' : 'wildcard'`,
      },
    ],
    tests: ['test/core/schedule-cron.test.ts', 'test/core/schedule-reference.test.ts'],
  },
  {
    name: 'overlap is checked without the lock on the schedule',
    edits: [
      {
        file: 'src/store/engine/schedules/rows.ts',
        from: "where name = ${name} ${locking('for update')}`",
        to: 'where name = ${name}`',
      },
    ],
    tests: ['test/store/postgres/schedules.test.ts'],
  },
  {
    name: 'a prefetched job is charged an attempt when its worker is lost',
    edits: [
      {
        file: 'src/core/transition.ts',
        from: 'if (job.startedAt === null && ',
        to: 'if (job.startedAt === undefined && ',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a job that a lost worker did not report as started is prefetched again, and never charged',
    edits: [{ file: 'src/core/transition.ts', from: 'suspect: true }', to: 'suspect: false }' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'suspects are claimed together, so that each is charged with the loss by another',
    edits: [{ file: 'src/store/postgres/sql/claim.ts', from: 'where not b.stops or b.place = 1', to: 'where true' }],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'other jobs start beside a suspect',
    edits: [{ file: 'src/worker/worker.ts', from: ' || this.#alone.isOn', to: '' }],
    tests: ['test/worker/prefetch.test.ts'],
  },
  {
    name: 'prefetch claims jobs that must not run twice',
    edits: [
      {
        file: 'src/core/prefetch.ts',
        from: `rerun === 'safe' && maxAttempts > 1`,
        to: 'maxAttempts > 0 || rerun === rerun',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a new fair key starts behind every waiting job instead of in the current round',
    edits: [
      {
        file: 'src/core/turn.ts',
        from: 'last === undefined ? (standing.present(queue, priority) ?? 0) : last + 1',
        to: 'last === undefined ? 0 : last + 1',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'turns are assigned without the lock on their queue',
    edits: [
      {
        file: 'src/store/engine/turns.ts',
        from: `collate "C" for update of q`,
        to: `collate "C"`,
      },
    ],
    tests: ['test/store/postgres/locking.test.ts'],
  },
  {
    name: 'settle does not check the attempt (SQLite)',
    edits: [
      {
        file: 'src/store/sqlite/sql/settle.ts',
        from: 'const isHeld = `l.attempt = i.value ->> 1 and ',
        to: 'const isHeld = `',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'settle of a workflow step does not check the attempt (PostgreSQL)',
    edits: [
      {
        file: 'src/store/postgres/migrations/001_foundation.sql',
        from: 'l.attempt = i.attempt and',
        to: '',
      },
    ],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'settle does not check the attempt (PostgreSQL)',
    edits: [
      {
        file: 'src/store/postgres/sql/heartbeat.ts',
        from: 'l.job_id = i.job_id and l.attempt = i.attempt and l.worker_id = i.worker_id',
        to: 'l.job_id = i.job_id and l.worker_id = i.worker_id',
      },
    ],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'a batch of ends does not check the attempt (PostgreSQL)',
    edits: [
      { file: 'src/store/postgres/sql/settle.ts', from: 'and l.attempt = $2 and', to: 'and $2::integer > 0 and' },
    ],
    tests: ['test/store/postgres/settle.test.ts'],
  },
  {
    name: 'a batch of ends does not check the worker (PostgreSQL)',
    edits: [
      { file: 'src/store/postgres/sql/settle.ts', from: 'and l.worker_id = $3 and', to: 'and $3::integer > 0 and' },
    ],
    tests: ['test/store/postgres/settle.test.ts'],
  },
  {
    name: 'a batch of ends gives all jobs the start of the first (PostgreSQL)',
    edits: [
      {
        file: 'src/store/postgres/sql/settle.ts',
        from: '[width_bucket(l.job_id, $1::bigint[])]',
        to: '[1]',
      },
    ],
    tests: ['test/store/postgres/settle.test.ts'],
  },
  {
    name: 'reap checks only the id: a worker that has reported in between loses its job',
    edits: [
      {
        file: 'src/store/engine/changes.ts',
        from: "and (i.seen_at is null or i.seen_at = coalesce(${msOf('w.seen_at')}, 0))",
        to: '',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a call is acknowledged before its commit (SQLite)',
    edits: [
      {
        file: 'src/store/sqlite/base/group.ts',
        from: "database.run('commit');\n  return answers;",
        to: "setTimeout(() => database.inTransaction && database.run('commit'), 100);\n  return answers;",
      },
    ],
    tests: ['test/store/sqlite/crash.test.ts'],
  },
  {
    name: 'a claim does not see jobs that became claimable since the last one (SQLite)',
    edits: [
      {
        file: 'src/store/sqlite/base/group.ts',
        from: 'if (effects.reordered) memo.heads.forget();',
        to: '',
      },
    ],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'a claim does not see jobs of a known lane that were inserted since the last one (SQLite)',
    edits: [
      {
        file: 'src/store/sqlite/jobs/insert.ts',
        from: 'for (const id of laneIds) context.heads.change(id);',
        to: '',
      },
    ],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'a lane that a claim has emptied up to its limit is taken for empty (SQLite)',
    edits: [
      {
        file: 'src/store/sqlite/jobs/choose.ts',
        from: 'cursor.head ?? (this.#isFull ? best.order : undefined)',
        to: 'cursor.head',
      },
    ],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'claimed jobs are taken back without a check of claim_seq: a reply in flight is given to another worker',
    edits: [
      {
        file: 'src/store/sqlite/jobs/heartbeat.ts',
        from: 'row.claim_seq !== null && seenClaim !== null && row.claim_seq <= seenClaim',
        to: 'true',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a worker is declared dead when its lock is free at the first check',
    edits: [
      {
        file: 'src/scheduler/duties/reaper.ts',
        from: 'workers.filter(({ id, seenAt }) => earlier?.get(id) === seenAt)',
        to: 'workers.filter(() => earlier !== undefined)',
      },
    ],
    tests: ['test/scheduler/scheduler.test.ts'],
  },
  {
    name: 'a worker is declared dead by two checks of its lock right after one another',
    edits: [
      {
        file: 'src/scheduler/duties/reaper.ts',
        from: 'before !== undefined && now - before.at < APART_MS',
        to: 'before !== undefined && now < before.at',
      },
    ],
    tests: ['test/scheduler/scheduler.test.ts'],
  },
  {
    name: 'heartbeats stop when the worker drains',
    edits: [
      {
        file: 'src/worker/worker.ts',
        from: 'this.#heartbeater.run(() => this.#membership.current, leaving)',
        to: 'this.#heartbeater.run(() => this.#membership.current, this.#draining.signal)',
      },
    ],
    tests: ['test/worker/drain.test.ts'],
  },
  {
    name: 'only the child process is killed: its descendants live on',
    edits: [
      {
        file: 'src/worker/launcher/supervisor.ts',
        from: "canSignal(-tree.pid, 'SIGKILL')",
        to: "canSignal(tree.pid, 'SIGKILL')",
      },
      {
        file: 'src/worker/launcher/supervisor.ts',
        from: "for (const { pid } of left) canSignal(pid, 'SIGKILL');",
        to: 'void left;',
      },
    ],
    tests: ['test/worker/launcher-stop.test.ts'],
  },
  {
    name: 'settle does not check for a cancel request',
    edits: [
      {
        file: 'src/store/engine/changes.ts',
        from: '      and (l.cancel_requested_at is not null) = i.cancel_requested\n',
        to: '',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'one bad row fails its whole batch',
    edits: [
      {
        file: 'src/scheduler/jobs/submit.ts',
        from: 'splits: (error) => !isWorkronError(error) || !error.retryable,',
        to: 'splits: (error) => isWorkronError(error) && error.retryable,',
      },
    ],
    tests: ['test/scheduler/scheduler.test.ts'],
  },
  {
    name: 'retry reuses an attempt number',
    edits: [
      {
        file: 'src/store/engine/graph/reopen.ts',
        from: 'return { jobId, status, attempt, ...own,',
        to: 'return { jobId, status, attempt: 0, ...own,',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'claim does not use SKIP LOCKED',
    edits: [
      {
        file: 'src/store/postgres/sql/claim.ts',
        from: "order by ${order} limit h.n for update skip locked) p\n        where ${isOpen('h.lane', '$6')}",
        to: "order by ${order} limit h.n for update) p\n        where ${isOpen('h.lane', '$6')}",
      },
    ],
    tests: ['test/store/postgres/locking.test.ts'],
  },
  {
    name: 'a request to cancel forgets the claim of a running job',
    edits: [
      {
        file: 'src/store/engine/changes.ts',
        from: "  if (change.kind === 'flag') {\n    if (flags & FLAG.group)",
        to: "  if (change.kind === 'flag') {\n    effects.endedAttempt({ jobId, attempt });\n    if (flags & FLAG.group)",
      },
    ],
    tests: ['test/store/postgres/claims.test.ts'],
  },
  {
    name: 'the end of an attempt forgets the claim of the next one',
    edits: [
      {
        file: 'src/store/postgres/jobs/open-claims.ts',
        from: ' || found.attempt !== attempt',
        to: '',
      },
    ],
    tests: ['test/store/postgres/claims.test.ts'],
  },
  {
    name: 'a heartbeat deletes the claim of a long-running job',
    edits: [
      {
        file: 'src/store/postgres/sql/heartbeat.ts',
        from: "c.id = o.id and o.held = '{}'),",
        to: 'c.id = o.id),',
      },
    ],
    tests: ['test/store/postgres/claims.test.ts'],
  },
  {
    name: 'duties and heartbeats may read all live jobs to find those of claims',
    edits: [
      {
        file: 'src/store/postgres/sql/standing.ts',
        from: 'job_id = ${jobId} offset 0)',
        to: 'job_id = ${jobId})',
      },
    ],
    tests: ['test/store/postgres/backlog.test.ts'],
  },
  {
    name: 'processes that wait are not told of work that another process stored',
    edits: [
      {
        file: 'src/store/postgres/jobs/insert.ts',
        from: 'tellOthers ? database.queryThen(sql, values, announceWork, signal) : database.query(sql, values, signal)',
        to: 'tellOthers ? database.query(sql, values, signal) : database.query(sql, values, signal)',
      },
    ],
    tests: ['test/store/postgres/direct.test.ts'],
  },
  {
    name: 'a job that is claimed on insert overtakes waiting jobs of its lane',
    edits: [
      {
        file: 'src/store/postgres/sql/insert.ts',
        from: 'l.lane = u.lane order by ${order} limit 1) c)\n          then',
        to: 'l.lane = u.lane order by ${order} limit 0) c)\n          then',
      },
    ],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'a job that is claimed on insert overtakes waiting jobs of new lanes',
    edits: [
      {
        file: 'src/store/postgres/sql/insert.ts',
        from: 'select 1 from ${s}.lane where id > $16)',
        to: 'select 1 from ${s}.lane where id > $16 and id < 0)',
      },
    ],
    tests: ['test/store/postgres/insert-and-claim.test.ts'],
  },
  {
    name: 'an idle claim ignores that the reply of its insert-and-claim was lost',
    edits: [
      {
        file: 'src/scheduler/leases/idle-claims.ts',
        from: 'handed.then(({ claimed }) => claimed);',
        to: 'handed.then(({ claimed }) => claimed).catch(() => []);',
      },
    ],
    tests: ['test/scheduler/idle-claims.test.ts'],
  },
  {
    name: 'claim returns its jobs in the wrong order',
    edits: [
      {
        file: 'src/store/postgres/jobs/claim.ts',
        from: 'a.dueAt - b.dueAt || a.id - b.id)',
        to: 'b.id - a.id)',
      },
    ],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'edit does not rewrite the live row',
    edits: [
      {
        file: 'src/store/engine/edit.ts',
        from: '  await tx.run(sql`update live set',
        to: '  if (isMoved)\n    await tx.run(sql`update live set',
      },
    ],
    tests: ['test/store/postgres/locking.test.ts'],
  },
  {
    name: 'a condition is read as its opposite',
    edits: [{ file: 'src/core/dag/conditions.ts', from: "success: ['done'],", to: "success: ['failed']," }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'the counter of open edges is decremented twice (core)',
    edits: [{ file: 'src/core/dag/edge-counters.ts', from: '    open: -1,', to: '    open: -2,' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a cascade stops after one level',
    edits: [
      {
        file: 'src/store/engine/graph/propagation.ts',
        from: 'if (flags === null || flags & FLAG.hasChildren) this.#tx',
        to: 'if (flags === null) this.#tx',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a child that has started is judged again',
    edits: [
      {
        file: 'src/core/dag/propagate.ts',
        from: " || (from !== 'open' && child.started)) continue;",
        to: ') continue;',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a cancellation does not reach its descendants',
    edits: [
      {
        file: 'src/core/dag/propagate.ts',
        from: "touch.cancelled ||= to === 'impossible' && parent.cancels;",
        to: 'touch.cancelled ||= false;',
      },
    ],
    tests: ['test/core/dag-propagate.test.ts'],
  },
  {
    name: 'the cascade finds edges of children that have started (PostgreSQL)',
    edits: [
      {
        file: 'src/store/engine/graph/cascade.ts',
        from: " and (e.state = 'open' or ${neverStarted})`;",
        to: '`;',
      },
    ],
    tests: ['test/store/postgres/stale-edges.test.ts'],
  },
  {
    name: 'the fast path of successes frees a child that cannot run (SQLite)',
    edits: [
      {
        file: 'src/store/sqlite/graph/settle-linked.ts',
        from: ' && broken + missed === 0,',
        to: ' && broken + missed >= 0,',
      },
    ],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'the counter of open edges is decremented twice (PostgreSQL)',
    edits: [
      {
        file: 'src/store/postgres/migrations/001_foundation.sql',
        from: 'set open_edges = l.open_edges - c.count,',
        to: 'set open_edges = l.open_edges - 2 * c.count,',
      },
    ],
    tests: ['test/store/postgres/dependencies.test.ts'],
  },
  {
    name: 'the condition of an edge is ignored (PostgreSQL)',
    edits: [
      {
        file: 'src/store/postgres/migrations/001_foundation.sql',
        from: "filter (where e.condition <> 'failure' and",
        to: 'filter (where',
      },
      {
        file: 'src/store/postgres/migrations/001_foundation.sql',
        from: "bool_or(e.state <> case when e.condition = 'failure' then 'impossible' else 'held' end)",
        to: "bool_or(e.state <> 'held')",
      },
    ],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'a propagated success is ignored when a child is judged again',
    edits: [
      {
        file: 'src/store/engine/graph/edges.ts',
        from: "${lookedUp}) then 'held' else e.state end`;",
        to: '${lookedUp}) then e.state else e.state end`;',
      },
    ],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'the counter of open edges is decremented twice (SQLite)',
    edits: [
      {
        file: 'src/store/sqlite/sql/dependencies.ts',
        from: 'set open_edges = open_edges - (i.value ->> 1),',
        to: 'set open_edges = open_edges - 2 * (i.value ->> 1),',
      },
    ],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'edges are read in the statement that deletes the live row',
    edits: [
      {
        file: 'src/store/postgres/migrations/001_foundation.sql',
        from: '  v_lock_timeout text;',
        to: '  v_lock_timeout text;\n  v_seen bigint[];',
      },
      {
        file: 'src/store/postgres/migrations/001_foundation.sql',
        from: 'array_agg(workflow_id) filter (where workflow_id <> 0)\n    into',
        to: [
          'array_agg(workflow_id) filter (where workflow_id <> 0),',
          '      (select array_agg(e.child_id) from workron.edge e join gone g on g.job_id = e.parent_id)',
          '    into',
        ].join('\n'),
      },
      {
        file: 'src/store/postgres/migrations/001_foundation.sql',
        from: 'v_parents, v_workflows from gone;',
        to: 'v_parents, v_workflows, v_seen from gone;',
      },
      {
        file: 'src/store/postgres/migrations/001_foundation.sql',
        from: 'where e.parent_id = p.id offset 0',
        to: 'where e.parent_id = p.id and e.child_id = any(v_seen) offset 0',
      },
    ],
    tests: ['test/store/postgres/dependencies.test.ts'],
  },
  {
    name: 'an edge is inserted without the lock on its parent',
    edits: [
      {
        file: 'src/store/engine/graph/parents.ts',
        from: '  await locks.live(ids);\n  const live = ids.filter((id) => locks.holds(id));',
        to: '  const live = await locks.lives(ids);',
      },
    ],
    tests: ['test/store/postgres/dependencies.test.ts'],
  },
  {
    name: 'a leader writes without a check of its term (PostgreSQL)',
    edits: [
      {
        file: 'src/store/postgres/cluster/leadership.ts',
        from: ' and term = ${term} for key share',
        to: ' for key share',
      },
    ],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'a lease counts from the instant of its heartbeat, though the clock may have been set since',
    edits: [
      {
        file: 'src/scheduler/duties/lease-watch.ts',
        from: 'leases = await store.leases(signal);',
        to: 'leases = await store.leases(signal);\n      storeNow = await store.now(signal);',
      },
      {
        file: 'src/scheduler/duties/lease-watch.ts',
        from: 'let leases: HeldLease[];',
        to: 'let leases: HeldLease[];\n    let storeNow: number;',
      },
      {
        file: 'src/scheduler/duties/lease-watch.ts',
        from: 'seen.since + lease.leaseMs - sentAt',
        to: 'lease.heardAt + lease.leaseMs - storeNow',
      },
    ],
    tests: ['test/scheduler/clock-set.test.ts'],
  },
  {
    name: 'a heartbeat does not begin the count of its lease again',
    edits: [
      {
        file: 'src/scheduler/duties/lease-watch.ts',
        from: 'known?.heardAt === lease.heardAt ? known',
        to: 'known !== undefined ? known',
      },
    ],
    tests: ['test/scheduler/clock-set.test.ts'],
  },
  {
    name: 'a lease ends before it was watched for its whole length',
    edits: [
      {
        file: 'src/scheduler/duties/lease-watch.ts',
        from: 'seen.since + lease.leaseMs - sentAt',
        to: 'seen.since + lease.leaseMs / 2 - sentAt',
      },
    ],
    tests: ['test/scheduler/scheduler.test.ts'],
  },
  {
    name: 'a heartbeat that arrives during the search does not keep the job',
    edits: [
      {
        file: 'src/store/engine/duties.ts',
        from: 'h.job_id end, coalesce(h.renewed_at, w.seen_at)) in ${lease.input(given)}',
        to: 'h.job_id end) in (select worker_id, job_id from ${lease.input(given)} g)',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'the term of a leader follows the clock of the process',
    edits: [
      {
        file: 'src/scheduler/duties/leader.ts',
        from: 'if (this.#context.clock.monotonicMs() < term.until) return true;',
        to: 'if (this.#context.clock.now() < term.until) return true;',
      },
    ],
    tests: ['test/scheduler/clock-set.test.ts'],
  },
  {
    name: 'a worker whose lease is over is given jobs',
    edits: [
      {
        file: 'src/store/sqlite/jobs/claim.ts',
        from: 'worker.draining || worker.silent',
        to: 'worker.draining',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'PostgreSQL gives jobs to a worker whose lease is over',
    edits: [
      {
        file: 'src/store/postgres/sql/may-claim.ts',
        from: " and w.seen_at + w.lease_ms * interval '1 ms' >= ${now})`",
        to: ')`',
      },
    ],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'a claim waits beyond the lease',
    edits: [{ file: 'src/scheduler/leases/worker-calls.ts', from: 'waitMs: Math.min(waitMs, leaseMs)', to: 'waitMs' }],
    tests: ['test/scheduler/idle-claims.test.ts'],
  },
  {
    name: 'an attempt that the worker has lost runs on when it is given the next one',
    edits: [
      {
        file: 'src/worker/run/assignment.ts',
        from: 'return earlier?.ended === false ? earlier : undefined;',
        to: 'return undefined;',
      },
    ],
    tests: ['test/worker/lease.test.ts'],
  },
  {
    name: 'a launcher does not report that its worker has ended',
    edits: [
      {
        file: 'src/worker/launcher/launcher-process.ts',
        from: 'if (nothingLeft && gone !== null) {',
        to: 'if (!nothingLeft && gone !== null) {',
      },
    ],
    tests: ['test/process/gone-worker.test.ts'],
  },
  {
    name: 'a launcher reports a worker that has left',
    edits: [{ file: 'src/worker/launcher/launcher.ts', from: '    this.setGone(null);', to: '' }],
    tests: ['test/process/gone-worker.test.ts'],
  },
  {
    name: 'a job that may finish without contact is taken back with the others',
    edits: [
      {
        file: 'src/scheduler/leases/reclaim.ts',
        from: "!processEnded || job.onDisconnect !== 'finish'",
        to: 'job.id > 0',
      },
    ],
    tests: ['test/http/worker-routes.test.ts'],
  },
  {
    name: 'a worker whose process has ended can still be given jobs',
    edits: [{ file: 'src/scheduler/leases/reclaim.ts', from: '  await store.leaveWorker(workerId, signal);', to: '' }],
    tests: ['test/http/worker-routes.test.ts'],
  },
  {
    name: 'a new leader of the ticker begins with a large transaction',
    edits: [
      { file: 'src/scheduler/duties/ticker.ts', from: '  batch.startSmall();\n  const notify', to: '  const notify' },
    ],
    tests: ['test/scheduler/schedules.test.ts'],
  },
  {
    name: 'a sweep believes the mark of another user',
    edits: [
      {
        file: 'src/worker/launcher/process-table.ts',
        from: 'if (value === undefined || !believed.includes(userOf(pid))) return [];',
        to: 'if (value === undefined) return [];',
      },
    ],
    tests: ['test/worker/other-users.test.ts'],
  },
  {
    name: 'a work folder that another user made is used',
    edits: [{ file: 'src/worker/launcher/work-folder.ts', from: ' && stat.uid === uid', to: '' }],
    tests: ['test/worker/other-users.test.ts'],
  },
  {
    name: 'a pipe that another user made is used',
    edits: [
      {
        file: 'src/worker/launcher/output-pipes.ts',
        from: '!stat.isFIFO() || stat.uid !== uid',
        to: '!stat.isFIFO()',
      },
    ],
    tests: ['test/worker/other-users.test.ts'],
  },
  {
    name: 'a sweep ends processes of root in the session of a marked process of the commands’ user',
    edits: [
      {
        file: 'src/worker/launcher/sweep.ts',
        from: '`${readStat(pid)?.session} of ${userOf(pid)}`',
        to: '`${readStat(pid)?.session}`',
      },
    ],
    tests: ['test/worker/run-as.test.ts'],
  },
  {
    name: 'a command as another user keeps the groups of root',
    edits: [{ file: 'src/worker/launcher/starter-process.ts', from: '  process.setgroups?.([...groups]);\n', to: '' }],
    tests: ['test/worker/run-as.test.ts'],
  },
  {
    name: 'the folder of a command is looked at with the rights of root',
    edits: [
      {
        file: 'src/worker/launcher/remote-starter.ts',
        from: '    this.#starter ??= this.#open();\n',
        to: '    if (cwd !== null) process.getBuiltinModule("node:fs").statSync(cwd);\n    this.#starter ??= this.#open();\n',
      },
    ],
    tests: ['test/worker/run-as.test.ts'],
  },
  {
    name: 'a command can open a debugger in the process that started it',
    edits: [{ file: 'src/worker/launcher/launcher.ts', from: ", '--disable-sigusr1'", to: '' }],
    tests: ['test/worker/run-as.test.ts'],
  },
  {
    name: 'a command that killed its launcher runs with others again',
    edits: [
      {
        file: 'src/worker/launcher/launchers.ts',
        from: 'this.#judge(job, isKilled && !isAlone);',
        to: 'this.#judge(job, false);',
      },
    ],
    tests: ['test/worker/neighbours.test.ts'],
  },
  {
    name: 'a launcher reports its worker gone while another one has commands',
    edits: [
      {
        file: 'src/worker/launcher/launchers.ts',
        from: 'this.#alone.size === 0 ? this.#gone : null',
        to: 'this.#gone',
      },
    ],
    tests: ['test/process/gone-worker.test.ts'],
  },
  {
    name: 'commands share a PID namespace',
    edits: [{ file: 'src/worker/launcher/launcher-process.ts', from: 'cells: enclosed', to: 'cells: false' }],
    tests: ['test/worker/neighbours.test.ts'],
  },
  {
    name: 'orphans in the namespace of a command belong to no command',
    edits: [
      {
        file: 'src/worker/launcher/forest.ts',
        from: 'return heir !== null && this.#roots.has(heir) ? heir : null;',
        to: 'return null;',
      },
    ],
    tests: ['test/worker/neighbours.test.ts'],
  },
  {
    name: 'the shells of a killed starter are given up',
    edits: [
      {
        file: 'src/worker/launcher/remote-starter.ts',
        from: 'if (pid !== undefined && children.includes(pid)) {',
        to: 'if (pid !== undefined && children.includes(-pid)) {',
      },
    ],
    tests: ['test/worker/run-as.test.ts'],
  },
  {
    name: 'a worker under root reads a file that is not of the commands’ user',
    edits: [
      {
        file: 'src/worker/command/plain-file.ts',
        from: 'owner === null || stat.uid === owner.uid',
        to: 'true',
      },
    ],
    tests: ['test/worker/run-as.test.ts'],
  },
  {
    name: 'a job that does not fit yet reserves nothing',
    edits: [
      {
        file: 'src/core/capacity.ts',
        from: '    this.#reservation = { jobId, startsAt };\n    subtract(free',
        to: '    subtract(free',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a job passes a reservation whatever its timeout',
    edits: [{ file: 'src/core/capacity.ts', from: ' && endsAt <= startsAt', to: '' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a job that passes a reservation does not use up what it leaves',
    edits: [
      {
        file: 'src/core/capacity.ts',
        from: '    if (this.#reservation !== null && !this.#endsInTime(jobId)) subtract(this.#spare, resources);\n',
        to: '',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'inputs of workflow steps are not checked before they are stored',
    edits: [
      {
        file: 'src/scheduler/workflows/workflows.ts',
        from: '      await checkStepInputs(context.inputChecks, workflow.steps);\n',
        to: '',
      },
    ],
    tests: ['test/library/step-input.test.ts'],
  },
  {
    name: 'what a handler logs after its commit is lost',
    edits: [
      {
        file: 'src/library/store-backend.ts',
        from: 'source.writeOutput(completions.marked(chunks), signal)',
        to: 'source.writeOutput(chunks, signal)',
      },
    ],
    tests: ['test/library/transaction-sqlite.test.ts'],
  },
  {
    name: 'what a handler has logged before it completes its job comes after the end',
    edits: [{ file: 'src/library/store-backend.ts', from: 'store.exclusive ? undefined : flush()', to: 'undefined' }],
    tests: ['test/library/transaction-postgres.test.ts'],
  },
  {
    name: 'any worker may write to a job that an attempt has completed',
    edits: [
      {
        file: 'src/store/postgres/sql/output.ts',
        from: ' and r.worker_id = i.worker_id',
        to: '',
      },
    ],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'any worker may report on a job that an attempt has completed',
    edits: [{ file: 'src/store/engine/output.ts', from: ' and r.worker_id = i.worker_id', to: '' }],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'a stop that comes after the end of a handler keeps the process alive',
    edits: [{ file: 'src/worker/run/handler-executor.ts', from: 'stopped ??= outcome;', to: '' }],
    tests: ['test/library/exit.test.ts'],
  },
  {
    name: 'a handler that ignores its signal counts as ended',
    edits: [{ file: 'src/core/capacity.ts', from: '      ...this.#unknownUses(total, surroundings),\n', to: '' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a job is reserved at every worker',
    edits: [
      {
        file: 'src/core/capacity.ts',
        from: '    if (this.#isHeldElsewhere({ jobId, startsAt }, surroundings)) return;\n',
        to: '',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'jobs that pass a reservation are taken by their place in the lane',
    edits: [
      {
        file: 'src/store/postgres/jobs/plan-claim.ts',
        from: '    if (room.reservation === null && !lane.metered) counts.set',
        to: '    if (!lane.metered) counts.set',
      },
    ],
    tests: ['test/store/postgres/locking.test.ts'],
  },
  {
    name: 'two gangs hold places that are not free',
    edits: [
      {
        file: 'src/core/place-gangs.ts',
        from: 'let isHolding = taken.some(({ accepted, lane }) => !accepted || keptIn(lane, taken) > given.left(lane));',
        to: 'let isHolding = false;',
      },
    ],
    tests: ['test/scheduler/gangs-random.test.ts'],
  },
  {
    name: 'a member starts before all places of its gang are held',
    edits: [
      {
        file: 'src/core/claim-places.ts',
        from: 'return places.every(({ accepted }) => accepted) && waiting',
        to: 'return waiting',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'members of a gang are claimed one by one',
    edits: [{ file: 'src/core/lane.ts', from: '  if (lane.gang) return false;\n', to: '' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a process inserts jobs into a lane that may have been deleted since it was looked up (PostgreSQL)',
    edits: [
      {
        file: 'src/store/postgres/jobs/lanes.ts',
        from: 'sinceMs >= LANE_KNOWN_MS',
        to: 'sinceMs >= LANE_KNOWN_MS * 1e9',
      },
    ],
    tests: ['test/store/postgres/lanes.test.ts'],
  },
  {
    name: 'a lane is deleted although a job came after its mark (SQLite)',
    edits: [
      {
        file: 'src/store/sqlite/cluster/lanes.ts',
        from: '  lanes.forget();\n  return database.all',
        to: '  return database.all',
      },
    ],
    tests: ['test/store/sqlite/lanes.test.ts'],
  },
  {
    name: 'a lane is deleted while a transaction is open that may have read it before its mark',
    edits: [
      {
        file: 'src/store/postgres/sql/lanes.ts',
        from: ' and i.mark < pg_snapshot_xmin(pg_current_snapshot())::text::bigint',
        to: '',
      },
    ],
    tests: ['test/store/postgres/lanes.test.ts'],
  },
  {
    name: 'lanes are deleted while processes may still know them',
    edits: [{ file: 'src/scheduler/duties/pruner.ts', from: '< 2 * LANE_KNOWN_MS', to: '< 0' }],
    tests: ['test/scheduler/pruner.test.ts'],
  },
  {
    name: 'a claim in one statement takes no notice of the places of gangs',
    edits: [
      {
        file: 'src/store/postgres/sql/claim.ts',
        from: `const ownPlace = hasPlace('p.worker_id = $1');`,
        to: `const ownPlace = hasPlace('p.worker_id < $1');`,
      },
    ],
    tests: ['test/store/postgres/gangs.test.ts'],
  },
  {
    name: 'SQLite does not hold what a member of a gang needs',
    edits: [
      {
        file: 'src/store/sqlite/jobs/choose.ts',
        from: '    for (const { lane } of held) this.#room.hold(lane);\n',
        to: '',
      },
    ],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'PostgreSQL does not hold what a member of a gang needs',
    edits: [
      {
        file: 'src/store/postgres/jobs/plan-claim.ts',
        from: '  for (const { lane } of held) room.hold(lane);\n',
        to: '',
      },
    ],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'a gang starts with fewer members than it needs',
    edits: [{ file: 'src/core/place-gangs.ts', from: 'assigned.length >= least ?', to: 'assigned.length > 0 ?' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a gang that waits for room waits for more than it needs',
    edits: [
      {
        file: 'src/core/place-gangs.ts',
        from: 'const few = { least, most: least };',
        to: 'const few = { least, most: gang.members.length };',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'members of a gang that were left out end it when they are skipped',
    edits: [{ file: 'src/core/gang-fate.ts', from: " && job.reason !== 'gang'", to: '' }],
    tests: ['test/core/gang-fate.test.ts'],
  },
  {
    name: 'a retried member keeps its place of the earlier run',
    edits: [
      {
        file: 'src/store/engine/changes.ts',
        from: 'if (retried.length > 0) {',
        to: 'if (retried.length < 0) {',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'retried members start while others of their gang have places',
    edits: [{ file: 'src/core/place-gangs.ts', from: ' || !placed.has(idOf(members))', to: ' || true' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'positions count jobs that their limits keep from starting',
    edits: [
      {
        file: 'src/core/ahead.ts',
        from: '    if (fullMeter(meters, useNow, now) !== undefined) return false;\n',
        to: '',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'the rest of a gang stays when a member has ended before the start',
    edits: [
      {
        file: 'src/scheduler/duties/placer.ts',
        from: 'if (ended.length > 0) await apply',
        to: 'if (ended.length < 0) await apply',
      },
    ],
    tests: ['test/scheduler/gangs.test.ts'],
  },
  {
    name: 'the rest of a gang stays while its queue is paused',
    edits: [
      { file: 'src/store/engine/gangs.ts', from: 'const isOpen = paused\n', to: 'const isOpen = !paused && paused\n' },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a claim answers with members before jobs that are more urgent',
    edits: [
      {
        file: 'src/store/sqlite/sql/claim.ts',
        from: '    order by l.rank, l.turn, l.due, l.job_id`,\n};',
        to: '    order by l.turn, l.due, l.job_id`,\n};',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'PostgreSQL answers a claim with members in any order',
    edits: [
      {
        file: 'src/store/postgres/jobs/claim.ts',
        from: 'jobs.sort((a, b) => b.priority - a.priority || turnOf',
        to: 'jobs.sort((a, b) => turnOf',
      },
    ],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'members start although max_running does not allow as many',
    edits: [
      { file: 'src/core/claim-places.ts', from: ' || waiting.length > left) return false', to: ') return false' },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'two gangs start in one claim although max_running allows one',
    edits: [{ file: 'src/core/claim-places.ts', from: 'left(lane) - keptIn(lane, others)', to: 'left(lane)' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a gang is given places in a queue that never lets it start',
    edits: [{ file: 'src/core/place-gangs.ts', from: '    if (given.most(gang.lane) < least) continue;\n', to: '' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a gang that waits for its queue takes the turn of jobs before it',
    edits: [{ file: 'src/core/place-gangs.ts', from: 'lane.queue === gang.lane.queue || ', to: '' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'SQLite lets single jobs take what their queue keeps for a gang',
    edits: [{ file: 'src/store/sqlite/jobs/headroom.ts', from: ' - keptIn({ queue }, this.#places)', to: '' }],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'PostgreSQL lets single jobs take what their queue keeps for a gang',
    edits: [{ file: 'src/store/engine/headroom.ts', from: 'left - keptIn({ queue }, places)', to: 'left' }],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'a claim knows places of gangs only from before it has locked its queues',
    edits: [
      {
        file: 'src/store/postgres/jobs/claim.ts',
        from: 'hasPlaces && headroom.size > 0 ? await readPlaces(context, tx) : []',
        to: 'held',
      },
    ],
    tests: ['test/store/postgres/gangs.test.ts'],
  },
  {
    name: 'the members of a gang go on when one has failed',
    edits: [
      {
        file: 'src/core/gang-fate.ts',
        from: '  if (hasFailed) return cancelling(unfinished);\n',
        to: '',
      },
    ],
    tests: ['test/scheduler/gangs.test.ts'],
  },
  {
    name: 'the address of the profile in use gets any token',
    edits: [
      {
        file: 'src/ops/settings/profile-choice.ts',
        from: 'if (asked === undefined && own !== undefined) {',
        to: 'if (asked?.unasked && own !== undefined) {',
      },
    ],
    tests: ['test/cli/config.test.ts'],
  },
  {
    name: 'the token of a profile goes to another address',
    edits: [
      {
        file: 'src/ops/settings/profile-choice.ts',
        from: 'const chosen: GivenSettings = { ...rest, url: { text: profile.url, from, rank } };',
        to: 'const chosen: GivenSettings = { ...rest, url: url ?? { text: profile.url, from, rank } };',
      },
    ],
    tests: ['test/cli/config.test.ts'],
  },
  {
    name: 'a connection to a standby is used on',
    edits: [{ file: 'src/store/postgres/base/database.ts', from: ' && codeOf(error) !== READ_ONLY', to: '' }],
    tests: ['test/process/failover.test.ts'],
  },
  {
    name: 'valid tokens that were read during a revocation are kept',
    edits: [
      {
        file: 'src/scheduler/access/token-cache.ts',
        from: 'if (forgotten === this.#forgotten) this.#readAt',
        to: 'this.#readAt',
      },
    ],
    tests: ['test/http/tokens.test.ts'],
  },
  {
    name: 'a session that was read while it was logged out is kept',
    edits: [
      {
        file: 'src/scheduler/access/sessions.ts',
        from: 'session === undefined || ended !== endedBefore',
        to: 'session === undefined',
      },
    ],
    tests: ['test/http/tokens.test.ts'],
  },
  {
    name: 'a promoted file starts again',
    edits: [
      {
        file: 'src/store/sqlite/base/writer.ts',
        from: '  if (installed > 0) refusePromoted(database, file);\n',
        to: '',
      },
    ],
    tests: ['test/node/promote.test.ts'],
  },
  {
    name: 'promote goes on from a file that another promotion has marked',
    edits: [
      {
        file: 'src/node/promote/promote.ts',
        from: '!(isBegun && mark.installation === (await installationThere(session)))',
        to: 'mark.installation < 0',
      },
    ],
    tests: ['test/process/promoted.test.ts'],
  },
  {
    name: 'promote leaves out the indexes',
    edits: [
      {
        file: 'src/node/promote/promote.ts',
        from: '    for (const index of indexes) await client.query(index);\n',
        to: '',
      },
    ],
    tests: ['test/node/promote.test.ts'],
  },
  {
    name: 'an export takes a claimed job for a waiting one',
    edits: [
      {
        file: 'src/node/export/tables.ts',
        from: "case when t.claimed then 'running' else t.listed_as end",
        to: 't.listed_as',
      },
    ],
    tests: ['test/node/export.test.ts'],
  },
  {
    name: 'an export that lacks rows is restored',
    edits: [
      {
        file: 'src/node/export/load.ts',
        from: 'if (sum.result.rows !== rows || sum.result.checksum !== checksum) {',
        to: 'if (sum.result.rows < 0) {',
      },
    ],
    tests: ['test/node/export.test.ts'],
  },
  {
    name: 'ids that were given to deleted jobs are given again after a restore',
    edits: [{ file: 'src/node/export/load.ts', from: '    this.#continueIds(ids ?? {});\n', to: '' }],
    tests: ['test/node/export.test.ts'],
  },
  {
    name: 'a worker accepts places beside those that it holds already',
    edits: [
      {
        file: 'src/core/claim-places.ts',
        from: 'places.toSorted((a, b) => Number(b.accepted) - Number(a.accepted))',
        to: 'places',
      },
    ],
    tests: ['test/scheduler/gangs-random.test.ts'],
  },
  {
    name: 'SQLite ends a member before the others have succeeded',
    edits: [
      {
        file: 'src/store/sqlite/sql/settle.ts',
        from: "l.status = 'running' and l.flags & ${FLAG.member} = 0",
        to: "l.status = 'running' and l.flags <> ${-FLAG.member}",
      },
    ],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'PostgreSQL ends a member before the others have succeeded',
    edits: [
      {
        file: 'src/store/postgres/migrations/001_foundation.sql',
        from: 'and l.claimed and l.flags & 8192 = 0\n',
        to: 'and l.claimed\n',
      },
    ],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'a member pays for being stopped with its gang',
    edits: [
      {
        file: 'src/core/member.ts',
        from: 'counters: countersOf(job), delayMs: 0',
        to: 'counters: { ...countersOf(job), failures: job.failures + 1 }, delayMs: 0',
      },
    ],
    tests: ['test/scheduler/gangs.test.ts'],
  },
  {
    name: 'a gang pays for a term in which no member failed',
    edits: [{ file: 'src/core/place-gangs.ts', from: 'failures > charged ? 1 : 0', to: '1' }],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'the places of a gang are given up while a member may be starting',
    edits: [{ file: 'src/core/gang-fate.ts', from: "drop: gang.stopping ? 'always' : null", to: "drop: 'always'" }],
    tests: ['test/core/gang-fate.test.ts'],
  },
  {
    name: 'a stop that was decided in an earlier term stops the gang',
    edits: [
      {
        file: 'src/store/engine/gangs.ts',
        from: 'and term = ${term} and not stopping',
        to: 'and ${term} > 0 and not stopping',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'places of a later term are dropped',
    edits: [
      {
        file: 'src/store/engine/gangs.ts',
        from: ' and g.term = i.term',
        to: '',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a person cannot cancel a member that is stopped with its gang',
    edits: [
      {
        file: 'src/core/transition.ts',
        from: 'return job.cancelRequestedAt === null || job.gangStop',
        to: 'return job.cancelRequestedAt === null',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a unique key replaces jobs of queues that the caller may not use',
    edits: [
      {
        file: 'src/core/unique.ts',
        from: 'return unique.within !== undefined && replacesWaiting(unique) && !unique.within.includes(holderQueue);',
        to: 'return unique.within !== undefined && replacesWaiting(unique) && holderQueue === undefined;',
      },
    ],
    tests: ['test/http/restricted.test.ts'],
  },
  {
    name: 'a stored workflow of other queues can be replaced',
    edits: [
      { file: 'src/http/handlers/definitions.ts', from: 'await authorizeDefinition(call, wanted.name);', to: '' },
    ],
    tests: ['test/http/restricted.test.ts'],
  },
  {
    name: 'the audit is written after the change',
    edits: [
      {
        file: 'src/scheduler/access/decide.ts',
        from: 'const id = await add({',
        to: 'await change({ id: 0, details: null });\n      const id = await add({',
      },
    ],
    tests: ['test/http/audit.test.ts'],
  },
  {
    name: 'a job that an unfinished one depends on is deleted',
    edits: [
      {
        file: 'src/store/engine/prune.ts',
        from: "and ${standsAlone('d.id')} and ${isFree}",
        to: 'and ${isFree}',
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'a bulk delete counts unfinished jobs',
    edits: [
      {
        file: 'src/scheduler/jobs/bulk.ts',
        from: "const matching = action === 'delete' ? endedOf(filter) : filter;",
        to: 'const matching = filter;',
      },
    ],
    tests: ['test/http/delete.test.ts'],
  },
  {
    name: 'the name of a user is believed from every peer',
    edits: [
      {
        file: 'src/http/trusted-proxy.ts',
        from: 'if (header === null || peer === undefined || !this.#trusts(peer)) return undefined;',
        to: 'if (header === null || peer === undefined) return undefined;',
      },
    ],
    tests: ['test/http/trusted-proxy.test.ts'],
  },
  {
    name: 'the address of a caller is the first that it wrote itself',
    edits: [
      {
        file: 'src/http/trusted-proxy.ts',
        from: 'for (const hop of hops.slice(-MAX_HOPS).reverse()) {',
        to: 'for (const hop of hops) {',
      },
    ],
    tests: ['test/http/trusted-proxy.test.ts'],
  },
  {
    name: 'a cancel is not noticed',
    edits: [
      {
        file: 'src/core/notify.ts',
        from: "(status === 'cancelled' && cancels)",
        to: "(status === 'skipped' && cancels)",
      },
    ],
    tests: ['test/store/memory/contract.test.ts'],
  },
  {
    name: 'every run is slow',
    edits: [
      {
        file: 'src/scheduler/duties/notifier.ts',
        from: 'return slowAfterMs !== undefined && took !== null && took > slowAfterMs;',
        to: 'return slowAfterMs !== undefined && took !== null;',
      },
    ],
    tests: ['test/scheduler/notify.test.ts'],
  },
  {
    name: 'a launcher reports the end of its worker to public authorities only',
    edits: [
      {
        file: 'src/worker/launcher/report-gone.ts',
        from: '...(ca === null ? {} : { ca }) };',
        to: '};',
      },
    ],
    tests: ['test/process/tls.test.ts'],
  },
  {
    name: 'the thread that keeps a lease trusts public authorities only',
    edits: [
      {
        file: 'src/worker/http-lease-keeper.ts',
        from: 'data: options }',
        to: 'data: { ...options, ca: null } }',
      },
    ],
    tests: ['test/library/blocked-loop.test.ts'],
  },
  {
    name: 'a renewed TLS certificate is read and not used',
    edits: [
      {
        file: 'src/http/server-certificate.ts',
        from: 'for (const server of this.#servers) server.setSecureContext({ cert: pair.cert, key: pair.key });',
        to: '',
      },
    ],
    tests: ['test/process/tls.test.ts'],
  },
  {
    name: 'a TLS key that all users can read is used',
    edits: [
      {
        file: 'src/http/server-certificate.ts',
        from: "const key = readPrivateFile('tls-key', keyFile);",
        to: "const key = readFileSync(keyFile, 'utf8');",
      },
    ],
    tests: ['test/process/tls.test.ts'],
  },
  {
    name: 'a file of the working directory says which authority gets a token',
    edits: [
      {
        file: 'src/ops/settings/trust.ts',
        from: 'if (given.ca?.unasked && used !== undefined && !isOwn) {',
        to: 'if (given.ca?.unasked && used !== undefined && isOwn) {',
      },
    ],
    tests: ['test/process/tls.test.ts'],
  },
  {
    name: 'the cookie of a session over TLS goes over plain HTTP, too',
    edits: [{ file: 'src/http/answer-call.ts', from: "'encrypted' in request.raw.socket || ", to: '' }],
    tests: ['test/process/tls.test.ts'],
  },
  {
    name: 'a session outlives its revoked token',
    edits: [
      {
        file: 'src/store/engine/access.ts',
        from: 'const isValid = sql`revoked_at is null and (',
        to: 'const isValid = sql`(',
      },
    ],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'a session outlives its rotated token',
    edits: [
      {
        file: 'src/store/engine/access.ts',
        from: 'select id from token where ${isValid}',
        to: 'select id from token where revoked_at is null',
      },
    ],
    tests: ['test/store/postgres/contract.test.ts'],
  },
  {
    name: 'a session opens others, which outlive it',
    edits: [
      { file: 'src/http/handlers/sessions.ts', from: 'if (owner.parent === null) return owner;', to: 'return owner;' },
    ],
    tests: ['test/http/session-end.test.ts'],
  },
  {
    name: 'a download by a ticket goes on after the session that made it',
    edits: [
      {
        file: 'src/http/authenticate.ts',
        from: 'if (parent !== null && !(await known.access.isOpenSession(parent, request.signal))) return false;',
        to: '',
      },
    ],
    tests: ['test/http/session-end.test.ts'],
  },
  {
    name: 'a client sends its token to a socket that another user made',
    edits: [
      {
        file: 'src/ops/node-http.ts',
        from: 'if (target.socketPath !== undefined) checkSocket(target.socketPath);',
        to: '',
      },
    ],
    tests: ['test/process/socket.test.ts'],
  },
  {
    name: 'a socket in a folder that everybody can write to is used',
    edits: [
      {
        file: 'src/ops/private-socket.ts',
        from: 'if (isShared && (stat.mode & STICKY) === 0)',
        to: 'if (isShared && false)',
      },
    ],
    tests: ['test/ops/private-socket.test.ts'],
  },
  {
    name: 'callers of a socket for several users need no token',
    edits: [{ file: 'src/http/socket-server.ts', from: 'if (!needsToken) server.on(', to: 'server.on(' }],
    tests: ['test/process/socket.test.ts'],
  },
  {
    name: 'a worker sends the token of its own user to the port instead of using the socket',
    edits: [
      {
        file: 'src/ops/local-server.ts',
        from: 'return local.socket !== null && isSafeSocket(local.socket)',
        to: 'return local.socket === null && isSafeSocket(local.token)',
      },
    ],
    tests: ['test/process/socket.test.ts'],
  },
  {
    name: 'one token registers workers until there is room for no other',
    edits: [
      {
        file: 'src/http/handlers/workers.ts',
        from: 'if (principal.ownWorkersOnly) await scheduler.checkRoomOf(principal.name, signal);',
        to: '',
      },
    ],
    tests: ['test/http/worker-routes.test.ts'],
  },
];
