export function ClusterStrip() {
  return null;
}
