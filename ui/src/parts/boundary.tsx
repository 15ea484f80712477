import { Component, type ReactNode } from 'react';
import { Problem } from './notes.tsx';

interface BoundaryProps {
  /** The error is cleared when this name changes, for example with the address. */
  name: string;
  children: ReactNode;
}

/** Contains an error of its children and offers to try again. */
export class Boundary extends Component<BoundaryProps, { error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override componentDidUpdate({ name }: BoundaryProps): void {
    if (name !== this.props.name && this.state.error !== null) this.setState({ error: null });
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return <Problem error={this.state.error} onRetry={() => this.setState({ error: null })} />;
  }
}
