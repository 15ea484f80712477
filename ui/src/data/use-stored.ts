import { useState } from 'react';

/** A value that this browser remembers; where it may not, for as long as the page is open. */
export function useStored<T>(name: string, initial: T): [T, (value: T) => void] {
  const key = `workron.${name}`;
  const [value, setValue] = useState<T>(() => (read(key) as T | undefined) ?? initial);
  return [
    value,
    (next) => {
      setValue(next);
      try {
        localStorage.setItem(key, JSON.stringify(next));
      } catch {
        // Not remembered.
      }
    },
  ];
}

function read(key: string): unknown {
  try {
    const text = localStorage.getItem(key);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
