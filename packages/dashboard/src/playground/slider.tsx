export interface SliderProps {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly onTurn: (value: number) => void;
}

/** A number one drags; what it stands at is told as it moves. */
export function Slider({ name, unit, value, from, to, step, onTurn }: SliderProps) {
  return (
    <label>
      <span>
        {name}: <span class="dial">{`${value} ${unit}`.trim()}</span>
      </span>
      <input
        type="range"
        min={from}
        max={to}
        step={step}
        value={value}
        aria-label={name}
        aria-valuetext={`${value} ${unit}`.trim()}
        onInput={(event) => onTurn(Number(event.currentTarget.value))}
      />
    </label>
  );
}
