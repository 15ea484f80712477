// Before the first paint, so that nothing flashes: the theme that was chosen here, else the system's.
try {
  const theme = localStorage.getItem('workron.theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be refused; then the system decides.
}
// The page's policy forbids code made from text: the schemas must not even try.
globalThis.__zod_globalConfig = { jitless: true };
