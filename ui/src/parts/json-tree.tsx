import { visibleText } from '../words/visible-text.ts';

const MAX_CHILDREN = 200;
const OPEN_DEPTH = 2;
/** A longer list hides what follows it, so it is folded. */
const MAX_OPEN = 20;

/** JSON as a tree that can be folded. Long lists are cut, with a note. */
export function JsonTree({ value, label }: { value: unknown; label?: string }) {
  return (
    <div className="json" role="group" aria-label={label ?? 'JSON'}>
      <Node name={null} value={value} depth={0} />
    </div>
  );
}

function Node({ name, value, depth }: { name: string | null; value: unknown; depth: number }) {
  const head = name === null ? null : <span className="json-key">{visibleText(name)}: </span>;
  if (typeof value !== 'object' || value === null) {
    return (
      <div className="json-leaf">
        {head}
        <Scalar value={value} />
      </div>
    );
  }
  const entries = Object.entries(value);
  const brackets = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) {
    return (
      <div className="json-leaf">
        {head}
        {brackets.join('')}
      </div>
    );
  }
  return (
    <details open={depth < OPEN_DEPTH && entries.length <= MAX_OPEN}>
      <summary>
        {head}
        {brackets[0]}
        <span className="faint"> {entries.length} </span>
        {brackets[1]}
      </summary>
      <div className="json-children">
        {entries.slice(0, MAX_CHILDREN).map(([key, child]) => (
          <Node key={key} name={key} value={child} depth={depth + 1} />
        ))}
        {entries.length > MAX_CHILDREN && <div className="faint">… {entries.length - MAX_CHILDREN} more</div>}
      </div>
    </details>
  );
}

function Scalar({ value }: { value: unknown }) {
  if (typeof value === 'string') return <span className="json-string">"{visibleText(value)}"</span>;
  return <span className="json-other">{String(value)}</span>;
}
