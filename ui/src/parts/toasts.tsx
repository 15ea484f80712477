import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';

export interface Toast {
  kind: 'good' | 'bad';
  text: string;
}

interface Toasts {
  show(toast: Toast): void;
}

const Context = createContext<Toasts>({ show: () => undefined });
const GOOD_MS = 5_000;
const MAX_SHOWN = 4;

export function useToasts(): Toasts {
  return useContext(Context);
}

/** Short-lived messages about actions; errors stay until they are dismissed. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<(Toast & { id: number })[]>([]);
  const last = useRef(0);
  const close = useCallback((id: number) => setShown((all) => all.filter((toast) => toast.id !== id)), []);
  const show = useCallback(
    (toast: Toast) => {
      last.current += 1;
      const id = last.current;
      setShown((all) => [...all.slice(1 - MAX_SHOWN), { ...toast, id }]);
      if (toast.kind === 'good') setTimeout(() => close(id), GOOD_MS);
    },
    [close],
  );
  const value = useMemo(() => ({ show }), [show]);
  return (
    <Context value={value}>
      {children}
      <section className="toasts" aria-label="Notifications">
        <div role="status">{shown.filter(({ kind }) => kind === 'good').map((toast) => toastItem(toast, close))}</div>
        <div role="alert">{shown.filter(({ kind }) => kind === 'bad').map((toast) => toastItem(toast, close))}</div>
      </section>
    </Context>
  );
}

function toastItem({ id, kind, text }: Toast & { id: number }, close: (id: number) => void) {
  return (
    <div key={id} className={`toast toast-${kind}`}>
      <span aria-hidden="true">{kind === 'good' ? '✓' : '✗'}</span>
      <p>{text}</p>
      <button type="button" className="plain" aria-label="Close notification" onClick={() => close(id)}>
        ×
      </button>
    </div>
  );
}
