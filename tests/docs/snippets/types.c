/* Code that docs/guide/types.md shows. Compiled, not run. */
#include <stddef.h>

#include "lattice/lattice.h"

lattice_member_desc describe_holder(void);
int take(lattice_world* world, lattice_netid flag, lattice_netid fighter);

//! [flag]
typedef struct flag_state {
  float x, y;
  lattice_netid holder; /* 0: nobody */
} flag_state;
//! [flag]

lattice_member_desc describe_holder(void) {
  //! [holder]
  lattice_member_desc holder;
  lattice_member_desc_init(&holder);
  holder.name = "holder";
  holder.type = LATTICE_WIRE_NETID;
  holder.offset = offsetof(flag_state, holder);
  //! [holder]
  return holder;
}

int take(lattice_world* world, lattice_netid flag, lattice_netid fighter) {
  //! [take]
  flag_state* state = lattice_object_state(world, flag, 0);
  if (state != NULL) state->holder = fighter;
  //! [take]
  return state != NULL;
}
