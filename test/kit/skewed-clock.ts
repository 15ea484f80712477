/** Preloaded (`--import`) into test processes: shifts their wall clock by WORKRON_TEST_SKEW_MS. */

const skewMs = Number(process.env['WORKRON_TEST_SKEW_MS'] ?? 0);
const RealDate = Date;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + skewMs] : args, newTarget) as Date,
  apply: () => new RealDate(RealDate.now() + skewMs).toString(),
  get: (target, key, receiver) =>
    key === 'now' ? () => RealDate.now() + skewMs : (Reflect.get(target, key, receiver) as unknown),
});
