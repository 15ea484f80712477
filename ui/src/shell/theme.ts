/** The theme: light, dark, or that of the system. */

const KEY = 'workron.theme';

export function currentTheme(): 'dark' | 'light' {
  const chosen = document.documentElement.dataset['theme'];
  if (chosen === 'dark' || chosen === 'light') return chosen;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

export function nextTheme(): void {
  const theme = currentTheme() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset['theme'] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Storage is not allowed.
  }
  window.dispatchEvent(new Event('workron-theme'));
}

export function onTheme(listener: () => void): () => void {
  const media = matchMedia('(prefers-color-scheme: dark)');
  window.addEventListener('workron-theme', listener);
  media.addEventListener('change', listener);
  return () => {
    window.removeEventListener('workron-theme', listener);
    media.removeEventListener('change', listener);
  };
}
