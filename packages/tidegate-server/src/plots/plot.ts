/** What a plot shows, whatever it is drawn with: panels side by side, each with its axes, its lines and a legend. */
export interface Plot {
  readonly title: string;
  /** For who can not see it. */
  readonly about: string;
  readonly panels: readonly Panel[];
}

export interface Panel {
  readonly title?: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
  readonly marks?: readonly Mark[];
}

export interface Axis {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly ticks: readonly number[];
  readonly scale?: "linear" | "log";
}

export interface Line {
  /** In the legend; without one it is not there. */
  readonly label?: string;
  readonly color: Color;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly isDashed?: boolean;
}

export interface Mark {
  readonly x: number;
  readonly y: number;
  readonly label: string;
  /** On which side of the point the label stands. */
  readonly side: "left" | "right";
}

/** In the order in which lines get them; grey is for what all are measured by. */
export const colors = ["blue", "red", "green", "purple", "orange"] as const;

export type Color = (typeof colors)[number] | "grey";

export function colorOf(nth: number): Color {
  return colors[nth % colors.length] as Color;
}
