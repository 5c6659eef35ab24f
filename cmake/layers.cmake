# The dependency table of the library: one line per layer, lowest first.
#
#   lattice_layer(<name> <folder under src/> [ROOMS <folders>] USES <layers it may include> [SYSTEM <libraries>])
#
# A room is a folder inside the layer's folder. Rooms stand lowest first: none includes a room that stands behind it.
# A layer sees its own folder and the folders of the layers it USES, and nothing else. Its include path is a directory
# with links to just those folders (cmake/LatticeLayer.cmake). So an upward include does not compile, and an upward call
# does not link. tests/layers checks the same by reading the sources.

lattice_layer(platform       platform              USES)
lattice_layer(base           base                  USES platform)
lattice_layer(wire           transport/wire        USES platform base)
lattice_layer(socket         transport/socket      USES platform base)
lattice_layer(crypto         transport/crypto      USES platform base wire SYSTEM sodium)
lattice_layer(connection     transport/connection  USES platform base wire socket crypto)
lattice_layer(reliability    reliability ROOMS path congestion recovery channel endpoint
                                                   USES platform base wire socket crypto connection)
lattice_layer(fragment       fragment              USES platform base wire socket crypto connection
                                                        reliability)
lattice_layer(transfer       transfer              USES platform base wire socket crypto connection
                                                        reliability)
lattice_layer(serialization  serialization         USES platform base SYSTEM sodium)
lattice_layer(replication    replication ROOMS encoding interest USES platform base serialization)
lattice_layer(simulation     simulation            USES platform base serialization)
lattice_layer(prediction     prediction            USES platform base serialization simulation)
lattice_layer(world          world                 USES platform base wire socket crypto connection
                                                        reliability fragment transfer serialization
                                                        replication simulation prediction)
lattice_layer(abi            abi                   USES platform base wire socket crypto connection
                                                        reliability fragment transfer serialization
                                                        replication simulation prediction world)
