import { useEffect, useRef } from 'react';

/** Handlers by key; a sequence such as `g j` is two keys with a space between. */
export type Keys = Readonly<Record<string, () => void>>;

const SEQUENCE_MS = 1_200;

/** Listens to single keys, except while the user types, or while a dialog is open unless `inDialogs` is set. */
export function useKeys(keys: Keys, { inDialogs = false }: { inDialogs?: boolean } = {}): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    let first: { key: string; at: number } | undefined;
    const onKey = (event: KeyboardEvent): void => {
      const combined = event.ctrlKey || event.metaKey;
      if (event.altKey || event.defaultPrevented) return;
      const name = combined ? `ctrl ${event.key.toLowerCase()}` : event.key;
      if (!combined && (isTyping(event.target) || (!inDialogs && document.querySelector('dialog[open]') !== null)))
        return;
      const sequence = first !== undefined && event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${name}` : name;
      const action = current.current[sequence] ?? current.current[name];
      first = { key: name, at: event.timeStamp };
      if (action === undefined) return;
      event.preventDefault();
      first = undefined;
      action();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [inDialogs]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      ['TEXTAREA', 'SELECT'].includes(target.tagName) ||
      (target instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(target.type)))
  );
}
