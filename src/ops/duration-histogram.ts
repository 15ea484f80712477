/**
 * A histogram of durations, registered with prom-client as if it were one of its own. Every job is observed twice, and
 * prom-client's own checks and joins the labels each time, which costs as much as running an empty handler.
 */

interface Series<Label extends string> {
  labels: Readonly<Record<Label, string>>;
  /** By bound, the number of durations up to it and above the bound before; the last is for those above all bounds. */
  counts: number[];
  sum: number;
}

interface Value {
  metricName: string;
  labels: Readonly<Record<string, string | number>>;
  value: number;
}

interface DurationHistogramOptions<Label extends string> {
  name: string;
  help: string;
  labelNames: readonly Label[];
  /** Seconds, ascending. */
  bounds: readonly number[];
}

export class DurationHistogram<Label extends string> {
  readonly type = 'histogram';
  readonly name: string;
  readonly help: string;
  readonly bounds: readonly number[];
  /** Called with each duration; unset unless somebody else wants them too. */
  recorder: ((seconds: number, labels: Readonly<Record<string, string>>) => void) | undefined;
  readonly #labelNames: readonly Label[];
  readonly #series = new Map<string, Series<Label>>();
  /** A cache: most durations go to the same series as the one before. */
  #last: Series<Label> | undefined;

  constructor({ name, help, labelNames, bounds }: DurationHistogramOptions<Label>) {
    this.name = name;
    this.help = help;
    this.#labelNames = labelNames;
    this.bounds = bounds;
    // Without labels there is one series from the start.
    if (labelNames.length === 0) this.#seriesOf({} as Record<Label, string>);
  }

  observe(labels: Readonly<Record<Label, string>>, seconds: number): void {
    const series = this.#seriesOf(labels);
    let place = 0;
    while (place < this.bounds.length && seconds > (this.bounds[place] as number)) place += 1;
    series.counts[place] = (series.counts[place] ?? 0) + 1;
    series.sum += seconds;
    this.recorder?.(seconds, labels);
  }

  /** Called by prom-client at every scrape. */
  async get(): Promise<{ name: string; help: string; type: string; values: Value[]; aggregator: string }> {
    const { name, help, type } = this;
    return {
      name,
      help,
      type,
      values: [...this.#series.values()].flatMap((one) => this.#valuesOf(one)),
      aggregator: 'sum',
    };
  }

  #valuesOf({ labels, counts, sum }: Series<Label>): Value[] {
    let count = 0;
    const buckets = counts.map((here, place): Value => {
      count += here;
      return {
        metricName: `${this.name}_bucket`,
        labels: { le: this.bounds[place] ?? '+Inf', ...labels },
        value: count,
      };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }

  #seriesOf(labels: Readonly<Record<Label, string>>): Series<Label> {
    const last = this.#last;
    if (last !== undefined && this.#labelNames.every((name) => last.labels[name] === labels[name])) return last;
    const key = JSON.stringify(this.#labelNames.map((name) => labels[name]));
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { labels: { ...labels }, counts: Array.from({ length: this.bounds.length + 1 }, () => 0), sum: 0 };
      this.#series.set(key, series);
    }
    this.#last = series;
    return series;
  }
}
