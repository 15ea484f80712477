import { useEffect, useId, useState } from 'react';
import { FILTER_KEYS } from '../../../../src/api/filter-text.ts';
import { queryOf, termAtEnd, withTerm, wordsOf } from './filter-words.ts';
import { type JobQuery, searchFrom } from './job-query.ts';
import { useKnownValues } from './use-known-values.ts';

const TYPING_MS = 350;
const MAX_SHOWN = 8;

interface Suggestion {
  value: string;
  about: string;
}

interface FilterFieldProps {
  query: JobQuery;
  onChange: (query: JobQuery) => void;
}

/** The filter in one field, with suggestions of keys and of known values. */
export function FilterField({ query, onChange }: FilterFieldProps) {
  const { text, setText, parsed } = useTyped(query, onChange);
  const [open, setOpen] = useState(false);
  const [index, setIndex] = useState(-1);
  const id = useId();
  const known = useKnownValues(open);
  const term = termAtEnd(text);
  const suggestions = open ? suggestionsFor(term, known).slice(0, MAX_SHOWN) : [];
  const choose = (suggestion: Suggestion | undefined): void => {
    if (suggestion === undefined) return;
    setText(withTerm(text, term.at, term.key, suggestion.value));
    setIndex(-1);
  };
  const typing = term.key !== null && term.begun === '';
  return (
    <div className="filter-field">
      <input
        type="text"
        data-search=""
        role="combobox"
        aria-label="Filter jobs"
        aria-expanded={suggestions.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        {...(index >= 0 ? { 'aria-activedescendant': `${id}-${index}` } : {})}
        autoComplete="off"
        spellCheck={false}
        placeholder='Filter: queue:mail status:failed since:1h error:"503", or any text'
        value={text}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onChange={(event) => {
          setText(event.target.value);
          setOpen(true);
          setIndex(-1);
        }}
        onKeyDown={(event) => {
          const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (by !== undefined && suggestions.length > 0) {
            event.preventDefault();
            setIndex((index + by + suggestions.length) % suggestions.length);
          }
          if ((event.key === 'Enter' || event.key === 'Tab') && index >= 0) {
            event.preventDefault();
            choose(suggestions[index]);
          } else if (event.key === 'Enter' && 'query' in parsed) onChange(parsed.query);
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <Suggestions id={id} suggestions={suggestions} index={index} ofKeys={term.key === null} onChoose={choose} />
      {'problem' in parsed && !typing && <p className="problem-text">{parsed.problem}</p>}
    </div>
  );
}

/** The text of the field. It applies shortly after the last key, if it is valid. */
function useTyped(query: JobQuery, onChange: (query: JobQuery) => void) {
  const shown = wordsOf(query);
  const [text, setText] = useState(shown);
  useEffect(() => setText((before) => (sameFilter(before, query) ? before : shown)), [shown]);
  const parsed = queryOf(text, query);
  useEffect(() => {
    if ('problem' in parsed || sameFilter(text, query)) return;
    const timer = setTimeout(() => onChange(parsed.query), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return { text, setText, parsed };
}

interface SuggestionsProps {
  id: string;
  suggestions: readonly Suggestion[];
  index: number;
  ofKeys: boolean;
  onChoose: (suggestion: Suggestion) => void;
}

function Suggestions({ id, suggestions, index, ofKeys, onChoose }: SuggestionsProps) {
  return (
    <ul
      className="suggestions"
      role="listbox"
      id={`${id}-list`}
      aria-label="Suggestions"
      hidden={suggestions.length === 0}
    >
      {suggestions.map((suggestion, place) => (
        <li
          key={suggestion.value}
          id={`${id}-${place}`}
          role="option"
          aria-selected={place === index}
          // The field keeps the focus.
          onMouseDown={(event) => {
            event.preventDefault();
            onChoose(suggestion);
          }}
        >
          <b>{ofKeys ? `${suggestion.value}:` : suggestion.value}</b>
          <span className="faint">{suggestion.about}</span>
        </li>
      ))}
    </ul>
  );
}

function sameFilter(text: string, query: JobQuery): boolean {
  const parsed = queryOf(text, query);
  return 'query' in parsed && searchFrom(parsed.query).toString() === searchFrom(query).toString();
}

function suggestionsFor(
  { key, begun }: ReturnType<typeof termAtEnd>,
  known: Readonly<Record<string, readonly Suggestion[]>>,
): Suggestion[] {
  const lower = begun.toLowerCase();
  if (key !== null)
    return (known[key] ?? []).filter(({ value }) => value.toLowerCase().includes(lower) && value !== begun);
  return Object.entries(FILTER_KEYS)
    .map(([value, { about }]) => ({ value, about }))
    .filter(({ value }) => value.startsWith(lower));
}
