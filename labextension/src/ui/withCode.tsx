import React from 'react';

/** A sentence whose `parts in backticks` show as code, as messages of rules write them. */
export function WithCode(props: { text: string }): JSX.Element {
  const parts = props.text.split(/`([^`]+)`/);
  return <>{parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}
