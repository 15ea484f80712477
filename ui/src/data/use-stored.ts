import { useState } from 'react';

/** A value in local storage; kept in memory if the browser does not allow storage. */
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
        // Storage is not allowed.
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
