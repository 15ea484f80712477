/** A bar that shows how much of a limit is used. */
export function Meter({ value, of, label }: { value: number; of: number; label: string }) {
  const share = of === 0 ? 0 : Math.min(1, value / of);
  return (
    <span
      className={share >= 1 ? 'meter meter-full' : 'meter'}
      role="meter"
      aria-label={label}
      aria-valuenow={value}
      aria-valuemin={0}
      aria-valuemax={Math.max(of, value)}
      aria-valuetext={`${value} of ${of}`}
    >
      <span className="meter-bar" style={{ width: `${share * 100}%` }} />
    </span>
  );
}
