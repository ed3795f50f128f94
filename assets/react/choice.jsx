/* A select that shows a choice immediately. React puts the former value back until the server has answered, and a form that
   is sent in the meantime would send it. */
import { useEffect, useState } from "react";

export function Choice({ value, onChange, children, ...props }) {
  const [chosen, setChosen] = useState(value);
  useEffect(() => setChosen(value), [value]);
  const change = (event) => {
    setChosen(event.target.value);
    onChange?.(event);
  };
  return (
    <select {...props} value={chosen} onChange={change}>
      {children}
    </select>
  );
}
