const durations: readonly (readonly [value: string, words: string])[] = [
  ["10m", "10 minutes"],
  ["1h", "an hour"],
  ["1d", "a day"],
  ["7d", "a week"],
  ["30d", "30 days"],
  ["permanent", "for good"],
];

export function DurationField(props: { label: string; value: string; onChange: (value: string) => void }) {
  const { label, value, onChange } = props;
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {durations.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
