export function NextTicks() {
  return null;
}
