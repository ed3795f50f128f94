/* A button that adds a line to a text area of the same form, unless it already has that line. */
import { useCallback } from "react";

export function AddLine({ line, target, word, className }) {
  const add = useCallback(() => {
    const area = document.getElementById(target);
    if (!area) return;
    const lines = area.value.split(/[\s,]+/).filter(Boolean);
    if (!lines.includes(line)) area.value = [...lines, line].join("\n");
    area.focus();
  }, [line, target]);
  return (
    <button type="button" className={className} onClick={add}>
      {word}
    </button>
  );
}
