/* Prices of days with trades, and the volume below. Numbers come as parts of the scale (0 to 1), texts as people read
   them. */
import { useState } from "react";
import { ChartTable, Plot } from "$/public/react/charts.jsx";

const WIDTH = 1000;
const HEIGHT = 100;
const x = (part) => part * WIDTH;
const y = (part) => HEIGHT - part * HEIGHT;

/* The point nearest to the pointer, of some in order. */
function useNearest(points) {
  const [at, setAt] = useState(null);
  const find = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const part = (event.clientX - box.left) / box.width;
    let best = null;
    points.forEach((point, n) => {
      if (best === null || Math.abs(point.at - part) < Math.abs(points[best].at - part)) best = n;
    });
    setAt(best);
  };
  const handlers = { onPointerMove: find, onPointerDown: find, onPointerLeave: () => setAt(null) };
  return [at !== null && at < points.length ? at : null, handlers];
}

/* `points`: {at, open, high, low, close, move, volume, cells}, oldest first; `move` compares the close with the one before:
   up, down or flat. Without `open`, only the range of the prices is drawn. `cells` are the texts of a row of the table. */
export function PriceChart({ points = [], ticks = [], labels = [], heads = [], label, caption }) {
  const [place, handlers] = useNearest(points);
  const shown = place === null ? null : points[place];
  const width = Math.max(3, Math.min(14, (WIDTH / Math.max(points.length, 1)) * 0.55));
  const closes = points.map((point, n) => `${n ? "L" : "M"}${x(point.at).toFixed(1)} ${y(point.close).toFixed(2)}`).join("");
  const tip = shown && (
    <>
      <b>{shown.cells[0]}</b>
      {heads.slice(1).map((head, n) => <span key={head}>{head}<span className="end num">{shown.cells[n + 1]}</span></span>)}
    </>
  );
  const period = (heads[0] ?? "").toLowerCase();
  const frame = { place, part: shown?.at ?? 0, handlers };
  return (
    <div className="chart-box">
      <Plot {...frame} ticks={ticks} tip={tip} label={label} className="price-chart">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <path className="closes" d={closes} vectorEffect="non-scaling-stroke" />
          {points.map((point) => {
            if (point.open === undefined) {
              return <line key={point.at} className="range" x1={x(point.at)} x2={x(point.at)} y1={y(point.high)} y2={Math.max(y(point.low), y(point.high) + 1.5)} vectorEffect="non-scaling-stroke" />;
            }
            const [top, bottom] = [Math.max(point.open, point.close), Math.min(point.open, point.close)];
            return (
              <g key={point.at} className={`candle ${point.move}`}>
                <line x1={x(point.at)} x2={x(point.at)} y1={y(point.high)} y2={y(point.low)} vectorEffect="non-scaling-stroke" />
                <rect x={x(point.at) - width / 2} width={width} y={y(top)} height={Math.max((top - bottom) * HEIGHT, 1.5)} />
              </g>
            );
          })}
        </svg>
      </Plot>
      <Plot {...frame} labels={labels} className="volume-chart">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {points.map((point) => <rect key={point.at} className="column" x={x(point.at) - width / 2} width={width} y={y(point.volume)} height={point.volume ? Math.max(point.volume * HEIGHT, 3) : 0} />)}
        </svg>
      </Plot>
      <div className="legend chart-legend">
        {points.some((point) => point.open === undefined) ? (
          <>
            <span><i className="dot range-key" />Lowest to highest price of a {period}</span>
            {points.length > 1 && <span><i className="dot closes-key" />Last price of a {period}</span>}
          </>
        ) : (
          <>
            <span><i className="dot up-key" />Higher close than before</span>
            <span><i className="dot down-key" />Lower close</span>
            {points.some((point) => point.move === "flat") && <span><i className="dot flat-key" />Same close</span>}
          </>
        )}
        <span><i className="dot volume-key" />Volume</span>
      </div>
      <ChartTable caption={caption} heads={heads} rows={[...points].reverse().map((point) => point.cells)} />
    </div>
  );
}
