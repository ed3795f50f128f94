/* Charts over time, drawn with the tokens of the theme. The server sends numbers for the shapes and texts for people, so
   that the chart, what it says under the pointer, and its table are the same in every theme and width. */
import { useState } from "react";
import ChevronRight from "lucide-react/dist/esm/icons/chevron-right.mjs";

const WIDTH = 1000;
const HEIGHT = 100;
const NARROW = 6;
const across = (at, count) => (count > 1 ? (at * WIDTH) / (count - 1) : WIDTH / 2);
const path = (points) => points.map(([x, y], n) => `${n ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(2)}`).join("");

/* A small picture of numbers, from 0. It says nothing that is not in words beside it. */
export function Spark({ values = [], bars = false }) {
  const top = Math.max(...values, 0) || 1;
  const count = values.length;
  const y = (value) => HEIGHT - (value / top) * (HEIGHT - 4);
  if (count === 0) return <span className="spark" aria-hidden="true" />;
  const step = WIDTH / count;
  const line = path(values.map((value, at) => [across(at, count), y(value)]));
  return (
    <svg className="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {bars ? (
        values.map((value, at) => (
          <rect key={at} className="column" x={at * step + step * 0.15} width={step * 0.7} y={value ? y(value) : HEIGHT - 1.5} height={value ? HEIGHT - y(value) : 1.5} />
        ))
      ) : (
        <>
          <path className="fill" d={`${line}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`} />
          <path className="line" d={line} vectorEffect="non-scaling-stroke" />
        </>
      )}
    </svg>
  );
}

/* The place under the pointer, of some that are equally far apart. */
export function usePlace(count) {
  const [place, setPlace] = useState(null);
  const find = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const part = (event.clientX - box.left) / box.width;
    setPlace(Math.max(0, Math.min(count - 1, Math.round(part * (count - 1)))));
  };
  const handlers = { onPointerMove: find, onPointerDown: find, onPointerLeave: () => setPlace(null) };
  return [place !== null && place < count ? place : null, handlers];
}

/* Frame of a chart: lines with their labels at the right, labels below, and what it says under the pointer. The pointer is
   at `place` of `count` equally distant ones, or where `part` of the width is. Without a label, it belongs to another one. */
export function Plot({ ticks = [], labels = [], place, count, part, tip, label, handlers, className = "", children }) {
  const left = part !== undefined ? part * 100 : count > 1 ? ((place ?? 0) * 100) / (count - 1) : 50;
  const named = label ? { role: "img", "aria-label": label } : { "aria-hidden": true };
  return (
    <div className={`plot ${className}`} {...named}>
      <div className="plot-area" {...handlers}>
        {ticks.map((tick) => (
          <div key={tick.at} className="plot-tick" style={{ bottom: `${tick.at * 100}%` }}>
            <span>{tick.label}</span>
          </div>
        ))}
        {children}
        {place !== null && <div className="plot-cursor" style={{ left: `${left}%` }} />}
        {place !== null && tip && (
          <div className="plot-tip" style={{ left: `${left}%`, transform: `translateX(${-left}%)` }}>{tip}</div>
        )}
      </div>
      <div className="plot-labels">
        {labels.map((one, n) => (
          <span key={one.at} className={labels.length > NARROW && n % 3 ? "hide-narrow" : ""} style={{ left: `${one.at * 100}%` }}>{one.label}</span>
        ))}
      </div>
    </div>
  );
}

/* The numbers of a chart as a table, which everyone can open. The first cell of a row names it. */
export function ChartTable({ caption, heads = [], rows = [], word = "Show as table" }) {
  return (
    <details className="chart-table">
      <summary>
        <ChevronRight size={13} aria-hidden="true" />
        <span>{word}</span>
      </summary>
      <div className="table-wrap" tabIndex={0} role="region" aria-label={`${caption}, table`}>
        <table className="table slim">
          <caption className="sr">{caption}</caption>
          <thead>
            <tr>{heads.map((head, n) => <th key={head} scope="col" className={n ? "r" : ""}>{head}</th>)}</tr>
          </thead>
          <tbody>
            {rows.map(([name, ...cells]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {cells.map((cell, n) => <td key={n} className="r">{cell}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

const SHAPES = { issue: "M0 -5A5 5 0 1 1 0 5A5 5 0 1 1 0 -5Z", rules: "M0 -6L6 0L0 6L-6 0Z", distribution: "M0 -5.5L6 5H-6Z" };

function Mark({ kind }) {
  return (
    <svg className={`event-mark ${kind}`} viewBox="-7 -7 14 14" width="12" height="12" aria-hidden="true"><path d={SHAPES[kind]} /></svg>
  );
}

/* Areas on top of each other; of several, the line is their total. `points`: {label, values, texts, total, events: [{kind, title}]}, oldest first; `series`:
   {name, color}; `top` is the upper end of the scale. */
export function StackChart({ points = [], series = [], ticks = [], labels = [], top = 1, label, caption, first, total }) {
  const count = points.length;
  const [place, handlers] = usePlace(count);
  const shown = place === null ? null : points[place];
  const base = new Array(count).fill(0);
  const layers = series.map((one, n) => {
    const lower = base.map((value, at) => [across(at, count), HEIGHT - (value / top) * HEIGHT]);
    points.forEach((point, at) => { base[at] += point.values[n]; });
    const upper = base.map((value, at) => [across(at, count), HEIGHT - (value / top) * HEIGHT]);
    return { ...one, area: `${path([...upper, ...lower.reverse()])}Z`, edge: path(upper) };
  });
  const marked = points.flatMap((point, at) => [...new Set(point.events.map((event) => event.kind))].map((kind, n) => ({ at, kind, n })));
  const kinds = [...new Set(marked.map((mark) => mark.kind))];
  const names = { issue: "First issue", rules: "Rule change", distribution: "Distribution" };
  const several = series.length > 1;
  const tip = shown && (
    <>
      <b>{shown.label}</b>
      {several && series.map((one, n) => shown.values[n] > 0 && (
        <span key={one.name}><i className="dot" style={{ background: one.color }} />{one.name}<span className="end num">{shown.texts[n]}</span></span>
      ))}
      <span className="strong">{total}<span className="end num">{shown.total}</span></span>
      {shown.events.map((event) => <span key={event.title}><Mark kind={event.kind} />{event.title}</span>)}
    </>
  );
  const rows = [...points].reverse().map((point) => [
    point.label, ...(several ? point.texts : []), point.total, point.events.map((event) => event.title).join("; "),
  ]);
  return (
    <div className="chart-box">
      <Plot ticks={ticks} labels={labels} place={place} count={count} tip={tip} label={label} handlers={handlers} className="stack-chart">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {layers.map((one) => <path key={one.name} className="area" d={one.area} style={{ fill: one.color }} />)}
          {layers.slice(-1).map((one) => (
            <path key="total" className="edge" d={one.edge} style={several ? undefined : { stroke: one.color }} vectorEffect="non-scaling-stroke" />
          ))}
        </svg>
        {marked.map(({ at, kind, n }) => (
          <span key={`${at}${kind}`} className="plot-event" style={{ left: `${across(at, count) / 10}%`, bottom: `${-6 + n * 13}px` }}><Mark kind={kind} /></span>
        ))}
      </Plot>
      <div className="legend chart-legend">
        {several && series.map((one) => <span key={one.name}><i className="dot" style={{ background: one.color }} />{one.name}</span>)}
        {several && <span><i className="total-key" />{total}, stacked</span>}
        {kinds.map((kind) => <span key={kind}><Mark kind={kind} />{names[kind]}</span>)}
      </div>
      <ChartTable caption={caption} heads={[first, ...(several ? series.map((one) => one.name) : []), total, "Events"]} rows={rows} />
    </div>
  );
}
