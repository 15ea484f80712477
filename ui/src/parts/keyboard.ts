import { useEffect, useRef } from 'react';

/** Handlers by key; a sequence such as `g j` is two keys with a space between. */
export type Keys = Readonly<Record<string, (() => void) | undefined>>;

const SEQUENCE_MS = 1_200;

/** The keys that are listened to. Later ones go first: those of a screen before those of the frame around it. */
const layers: { current: Keys }[] = [];
let first: { key: string; at: number } | undefined;

/** Listens to keys, except single ones while the user types or a dialog is open. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    if (layers.length === 0) document.addEventListener('keydown', onKey);
    layers.push(current);
    return () => {
      layers.splice(layers.indexOf(current), 1);
      if (layers.length === 0) document.removeEventListener('keydown', onKey);
    };
  }, []);
}

function onKey(event: KeyboardEvent): void {
  const combined = event.ctrlKey || event.metaKey;
  if (event.altKey || event.defaultPrevented) return;
  const name = combined ? `ctrl ${event.key.toLowerCase()}` : event.key;
  if (!combined && (isTyping(event.target) || document.querySelector('dialog[open]') !== null)) return;
  const sequence = first !== undefined && event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${name}` : name;
  const action = actionOf(sequence) ?? actionOf(name);
  first = action === undefined ? { key: name, at: event.timeStamp } : undefined;
  if (action === undefined) return;
  event.preventDefault();
  action();
}

function actionOf(name: string): (() => void) | undefined {
  return layers.findLast(({ current }) => current[name] !== undefined)?.current[name];
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      ['TEXTAREA', 'SELECT'].includes(target.tagName) ||
      (target instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(target.type)))
  );
}
