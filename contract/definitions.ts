import assert from 'node:assert/strict';
import type { Follower } from '../src/core/dag/definition.ts';
import type { ListedWorkflow } from '../src/core/dag/new-workflow.ts';
import { isWorkronError } from '../src/core/error.ts';
import type { NewSchedule } from '../src/core/schedule/schedule.ts';
import type { Store } from '../src/store/store.ts';
import { aJob } from './kit/builders.ts';
import { aSchedule, changeSchedule } from './kit/schedules.ts';
import { forever } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const PAGE = { after: null, limit: 100 };

function aDefinition(body = '{"steps":["a"]}', name = 'etl') {
  return { name, source: `# ${body}`, body };
}

function aWorkflow(command: string): Omit<ListedWorkflow, 'rerunOf'> {
  const step = {
    key: 'only',
    job: aJob({ command }),
    parents: [],
    condition: 'success',
    forEach: null,
    keepFrom: null,
  } as const;
  return { name: 'etl', params: {}, steps: [step], notify: [] };
}

async function put(store: Store, body?: string, followers: readonly Follower[] = []) {
  return await store.putDefinition(aDefinition(body), followers, forever);
}

/** A schedule that runs a definition. */
function using(version: number, latest: boolean, name = 'nightly'): NewSchedule {
  const workflow = { ...aWorkflow(`version ${version}`), definition: { name: 'etl', version } };
  return { ...aSchedule({ name }), target: { workflow }, uses: { name: 'etl', version, latest, params: { day: '1' } } };
}

function follower(scheduleId: number, command: string, params: Follower['params'] = { day: '1' }): Follower {
  return { scheduleId, params, workflow: aWorkflow(command) };
}

export function exerciseDefinitions(open: OpenStore): void {
  const test = withStore(open);

  test('definitions: a change makes a version, the same again does not', async ({ store }) => {
    const first = await put(store);
    assert.deepEqual(
      [first?.changed, first?.definition.version, first?.definition.source],
      [true, 1, '# {"steps":["a"]}'],
    );
    const again = await store.putDefinition({ ...aDefinition(), source: 'other comments' }, [], forever);
    assert.deepEqual(again, { definition: first?.definition, changed: false });
    const second = await put(store, '{"steps":["b"]}');
    assert.deepEqual([second?.changed, second?.definition.version], [true, 2]);
    // What was there before is a change, too.
    assert.equal((await put(store))?.definition.version, 3);

    assert.deepEqual((await store.definition('etl', null, forever))?.version, 3);
    assert.deepEqual(await store.definition('etl', 2, forever), second?.definition);
    assert.equal(await store.definition('etl', 4, forever), undefined);
    assert.equal(await store.definition('etl', 2 ** 40, forever), undefined);
    assert.equal(await store.definition('other', null, forever), undefined);
    const versions = async (page: { before: number | null; limit: number }) =>
      (await store.definitionVersions('etl', page, forever)).map(({ version }) => version);
    assert.deepEqual(await versions({ before: null, limit: 2 }), [3, 2]);
    assert.deepEqual(await versions({ before: 2, limit: 2 }), [1]);
  });

  test('definitions: calls at once make one version of each change', async ({ store }) => {
    const same = await Promise.all(Array.from({ length: 5 }, () => put(store)));
    assert.deepEqual(
      same.map((one) => one?.definition.version),
      [1, 1, 1, 1, 1],
    );
    assert.equal(same.filter((one) => one?.changed).length, 1);
    const others = await Promise.all(['b', 'c', 'd', 'e'].map((body) => put(store, body)));
    assert.deepEqual(
      others.map((one) => one?.definition.version ?? 0).sort((a, b) => a - b),
      [2, 3, 4, 5],
    );
  });

  test('definitions: the list has the latest versions, by name and in pages', async ({ store }) => {
    for (const [name, body] of [
      ['b', '1'],
      ['a', '1'],
      ['b', '2'],
      ['c', '1'],
    ] as const) {
      await store.putDefinition(aDefinition(body, name), [], forever);
    }
    const listed = async (page: { after: string | null; limit: number }) =>
      (await store.definitions(page, forever)).map(({ name, version }) => [name, version]);
    assert.deepEqual(await listed({ after: null, limit: 2 }), [
      ['a', 1],
      ['b', 2],
    ]);
    assert.deepEqual(await listed({ after: 'b', limit: 2 }), [['c', 1]]);
  });

  test('definitions: a workflow keeps the version it was made from, and is found by its definition', async ({
    store,
  }) => {
    await put(store);
    const definition = { name: 'etl', version: 1 };
    const { workflow } = await store.insertWorkflow({ ...aWorkflow('x'), rerunOf: null, definition }, {}, forever);
    const { workflow: other } = await store.insertWorkflow({ ...aWorkflow('x'), rerunOf: null }, {}, forever);
    assert.deepEqual([workflow.definition, other.definition], [definition, null]);
    await put(store, '{"steps":["b"]}');
    assert.deepEqual((await store.workflow(workflow.id, forever))?.definition, definition);
    const found = await store.workflows({ definition: 'etl' }, { before: null, limit: 10 }, forever);
    assert.deepEqual(
      found.map(({ id }) => id),
      [workflow.id],
    );
    await store.deleteDefinition('etl', forever);
    assert.deepEqual((await store.workflow(workflow.id, forever))?.definition, definition);
  });

  test('definitions: a schedule that follows runs the new version, one with a version does not', async ({ store }) => {
    await put(store);
    const follows = await store.createSchedule(using(1, true, 'follows'), forever);
    const stays = await store.createSchedule(using(1, false, 'stays'), forever);
    assert.deepEqual(
      (await store.schedulesUsing('etl', forever)).map(({ name }) => name),
      ['follows', 'stays'],
    );
    const second = await put(store, '{"steps":["b"]}', [follower(follows.id, 'second')]);
    assert.equal(second?.definition.version, 2);
    const request = { kind: 'manual', keys: null, instants: [] } as const;
    const ran = async (name: string) => {
      const answer = await store.runSchedule(name, request, {}, forever);
      const id = answer?.ticks[0]?.workflowId ?? 0;
      const [step] = await store.steps(id, null, forever);
      return [(await store.workflow(id, forever))?.definition, step?.job.command];
    };
    assert.deepEqual(await ran('follows'), [{ name: 'etl', version: 2 }, 'second']);
    assert.deepEqual(await ran('stays'), [{ name: 'etl', version: 1 }, 'version 1']);
    const { uses, updatedAt, ...rest } = (await store.schedule('follows', forever)) ?? follows;
    assert.deepEqual(uses, { name: 'etl', version: 2, latest: true, params: { day: '1' } });
    assert.ok(updatedAt >= follows.updatedAt);
    assert.deepEqual([rest.id, rest.everyMs, rest.owner], [follows.id, follows.everyMs, follows.owner]);
    assert.deepEqual((await store.schedule('stays', forever))?.uses, stays.uses);
  });

  test('definitions: nothing is stored for other followers than there are', async ({ store }) => {
    await put(store);
    const { id } = await store.createSchedule(using(1, true), forever);
    for (const followers of [
      [],
      [follower(id, 'x'), follower(id + 1, 'x')],
      [follower(id + 1, 'x')],
      [follower(id, 'x', { day: '2' })],
    ]) {
      assert.equal(await put(store, 'b', followers), undefined);
    }
    assert.equal((await store.definition('etl', null, forever))?.version, 1);
    assert.equal((await store.schedule('nightly', forever))?.uses?.version, 1);
    // The same again concerns no schedule.
    assert.equal((await put(store))?.changed, false);
  });

  test('definitions: one that a schedule uses is not deleted', async ({ store }) => {
    await put(store);
    await store.createSchedule(using(1, false), forever);
    assert.deepEqual(await store.deleteDefinition('etl', forever), { deleted: false, usedBy: ['nightly'] });
    assert.equal((await store.definition('etl', null, forever))?.version, 1);
    // Another target ends the use.
    await changeSchedule(store, 'nightly', { type: 'edit', edit: { target: aSchedule().target } });
    assert.equal((await store.schedule('nightly', forever))?.uses ?? null, null);
    assert.deepEqual(await store.deleteDefinition('etl', forever), { deleted: true, usedBy: [] });
    assert.deepEqual(await store.deleteDefinition('etl', forever), { deleted: false, usedBy: [] });
    assert.deepEqual(await store.definitions(PAGE, forever), []);
  });

  test('definitions: a schedule that is edited to run a job no longer uses one', async ({ store }) => {
    await put(store);
    await store.createSchedule(using(1, true), forever);
    await changeSchedule(store, 'nightly', { type: 'edit', edit: { job: { command: 'true' } } });
    const edited = await store.schedule('nightly', forever);
    assert.deepEqual([edited?.uses ?? null, Object.keys(edited?.target ?? {})], [null, ['job']]);
    assert.deepEqual(await store.deleteDefinition('etl', forever), { deleted: true, usedBy: [] });
  });

  test('definitions: a schedule cannot use what is not there, or no longer the latest', async ({ store }) => {
    const refused = (code: 'definition_not_found' | 'definition_changed') => (error: unknown) =>
      isWorkronError(error, code);
    await assert.rejects(store.createSchedule(using(1, true), forever), refused('definition_not_found'));
    await put(store);
    await put(store, 'b');
    await assert.rejects(store.createSchedule(using(3, false), forever), refused('definition_not_found'));
    await assert.rejects(store.createSchedule(using(1, true), forever), refused('definition_changed'));
    assert.equal(await store.schedule('nightly', forever), undefined);
    await store.createSchedule(using(1, false), forever);
    const { target, uses } = using(1, true);
    const edit = changeSchedule(store, 'nightly', { type: 'edit', edit: { target, uses: uses ?? null } });
    await assert.rejects(edit, refused('definition_changed'));
    assert.equal((await store.schedule('nightly', forever))?.uses?.latest, false);
    const follow = using(2, true);
    await changeSchedule(store, 'nightly', {
      type: 'edit',
      edit: { target: follow.target, uses: follow.uses ?? null },
    });
    assert.deepEqual((await store.schedule('nightly', forever))?.uses, follow.uses);
  });

  test('definitions: of a deletion and a schedule at once, one is refused', async ({ store }) => {
    for (let round = 0; round < 5; round += 1) {
      await put(store);
      const name = `nightly-${round}`;
      const [made, deleted] = await Promise.all([
        store.createSchedule(using(1, false, name), forever).then(
          () => true,
          (error: unknown) => !isWorkronError(error, 'definition_not_found') && assert.fail(String(error)),
        ),
        store.deleteDefinition('etl', forever),
      ]);
      assert.equal(made, !deleted.deleted);
      if (made) await store.deleteSchedule(name, forever);
      await store.deleteDefinition('etl', forever);
    }
  });
}
